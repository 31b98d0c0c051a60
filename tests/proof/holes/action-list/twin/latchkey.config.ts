import { make } from "../project.ts";

export default make({ isLeaky: false });
