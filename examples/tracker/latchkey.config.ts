import { defineConfig } from "latchkey/service";
import { mounts, users } from "./tracker.ts";

export default defineConfig({
  api: { title: "Tracker", version: "1", description: "Plan together what is to be done." },
  without: ["orders", "protected"], // the examples of the ready-made service
  registration: "open", // everyone may make an account
  users,
  mounts,
});
