// For compose.yaml: the password of the database stays in its file.
import { readFileSync } from "node:fs";

// sslmode=disable: the database is reached through the network of this compose file alone.
const password = readFileSync("/run/secrets/postgres_password", "utf8").trim();

// oxlint-disable-next-line import/no-default-export -- the way in which a config file gives what it has
export default {
  settings: { database: `postgres://latchkey:${encodeURIComponent(password)}@postgres/latchkey?sslmode=disable` },
};
