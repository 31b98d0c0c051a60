import { defineConfig } from "latchkey/service";
import { mounts } from "./shop.ts";

export default defineConfig({
  api: { title: "Shop", version: "1" },
  without: ["orders", "protected"], // the examples of the ready-made service
  registration: "open", // everyone may make an account
  mounts,
});
