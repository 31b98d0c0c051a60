// For a test that serves the declarations of a file in its own process. The file must import the same copy of the package: the source.
import path from "node:path";
import { hookDoors } from "./hook-doors.ts";

hookDoors((name) => path.join(import.meta.dirname, "../../src", `${name}.ts`));
