// Loaded by a test that serves the declarations of a file in the process of the test. The file then imports the same
// copy of the package as the test: the source.
import path from "node:path";
import { hookDoors } from "./hook-doors.ts";

hookDoors((name) => path.join(import.meta.dirname, "../../src", `${name}.ts`));
