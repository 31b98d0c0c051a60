// For compose.yaml: passwords stay in their files, and each service has only those that it needs.
import { existsSync, readFileSync } from "node:fs";

/** Returns the text of a secret. Returns null if this service does not have it. */
function secret(name: string): string | null {
  const file = `/run/secrets/${name}`;
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

const owner = secret("postgres_owner_password");
const service = secret("postgres_service_password");
const [role, password] = owner === null ? ["latchkey_service", service] : ["latchkey_owner", owner];
const adminPassword = secret("admin_password");

// oxlint-disable-next-line import/no-default-export -- the format of a config file
export default {
  settings: {
    // sslmode=disable: the service reaches the database only through the network of this compose file.
    database: `postgres://${role}:${encodeURIComponent(password ?? "")}@postgres/latchkey?sslmode=disable`,
    ...(adminPassword === null ? {} : { adminPassword }),
  },
};
