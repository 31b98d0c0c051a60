// For compose.yaml: passwords stay in their files, and each service has those that it needs and no other.
import { existsSync, readFileSync } from "node:fs";

/** The text of a secret; null where this service has not got it. */
function secret(name: string): string | null {
  const file = `/run/secrets/${name}`;
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

const owner = secret("postgres_owner_password");
const service = secret("postgres_service_password");
const [role, password] = owner === null ? ["latchkey_service", service] : ["latchkey_owner", owner];
const adminPassword = secret("admin_password");

// oxlint-disable-next-line import/no-default-export -- the way in which a config file gives what it has
export default {
  settings: {
    // sslmode=disable: the database is reached through the network of this compose file alone.
    database: `postgres://${role}:${encodeURIComponent(password ?? "")}@postgres/latchkey?sslmode=disable`,
    ...(adminPassword === null ? {} : { adminPassword }),
  },
};
