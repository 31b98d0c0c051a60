// For a test that serves the declarations of a file in its own process. They have to be of the copy of the package that serves them: the source.
import path from "node:path";
import { hookDoors } from "./hook-doors.ts";

hookDoors((name) => path.join(import.meta.dirname, "../../src", `${name}.ts`));
