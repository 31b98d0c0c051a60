import { defineConfig } from "latchkey/service";
import { mounts, users } from "./shop.ts";

export default defineConfig({
  api: { title: "Shop", version: "1", description: "Things for the home, and what customers say about them." },
  without: ["orders", "protected"], // the examples of the ready-made service
  registration: "open", // everyone may make an account
  users,
  mounts,
});
