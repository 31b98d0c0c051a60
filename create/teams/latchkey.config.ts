import { defineConfig } from "latchkey/service";
import { mountedBooks } from "./resources/books.ts";
import { mountedMembers, mountedProjects, users } from "./resources/projects.ts";

export default defineConfig({
  api: { title: "My API", version: "1" },
  // How people log in. Others: basic, token, bearer. Settings of one machine are in its environment
  // (LATCHKEY_PORT=9000).
  settings: { schemes: ["session"] },
  // Removes the example resources of the service.
  without: ["orders", "protected"],
  users,
  mounts: [mountedProjects, mountedMembers, mountedBooks],
});
