import { defineConfig } from "latchkey/service";
import { mountedBooks } from "./resources/books.ts";

export default defineConfig({
  api: { title: "My API", version: "1" },
  // How people log in. Others: basic, token, bearer. Settings of one machine stand in its environment (LATCHKEY_PORT=9000).
  settings: { schemes: ["session"] },
  // The examples of the service itself, which this project does without.
  without: ["orders", "protected"],
  mounts: [mountedBooks],
});
