import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeChanges } from "../../../proof/lock/changes.ts";
import { formatLock, LOCK_COMMAND, LOCK_FILE } from "../../../proof/lock/lock-file.ts";
import { permissionsOf, type DeclaredPermissions } from "../../../proof/lock/permissions-of.ts";
import { refuseConnections } from "../../../proof/world/network.ts";
import { readErrorCode } from "../../../service/settings/error.ts";
import { CommandFailed, exits, show, type Output } from "../../output.ts";
import { loadProvedConfig, openerOf } from "../open-service.ts";

/** `latchkey prove --lock`: writes the permissions of the service beside its config file. */
export async function writeLock(folder: string, { json = false }: Output): Promise<void> {
  const text = formatLock(await readPermissions(folder));
  try {
    writeFileSync(path.join(folder, LOCK_FILE), text);
  } catch (error) {
    throw new CommandFailed(`${LOCK_FILE} cannot be written (${readErrorCode(error)}).`);
  }
  show(json, { file: LOCK_FILE }, `${LOCK_FILE} has the permissions of the service. Commit it.`);
}

/** `latchkey prove --check`: compares the permissions of the service with the file. Exit status 1 if they differ. */
export async function checkLock(folder: string, { json = false }: Output): Promise<void> {
  const file = path.join(folder, LOCK_FILE);
  if (!existsSync(file))
    throw new CommandFailed(`There is no ${LOCK_FILE} here. Make it: ${LOCK_COMMAND}`, "not_found");
  const changes = describeChanges(readFileSync(file, "utf8"), await readPermissions(folder));
  if (changes.length > 0) process.exitCode = exits.failed;
  const advice = `If these changes are right, write the lock: ${LOCK_COMMAND}`;
  show(
    json,
    { changes },
    changes.length === 0 ? `The permissions are those of ${LOCK_FILE}.` : [...changes, "", advice].join("\n"),
  );
}

async function readPermissions(folder: string): Promise<DeclaredPermissions> {
  const network = refuseConnections();
  try {
    const config = await loadProvedConfig(folder, network);
    const { service } = await openerOf(process.env, config, network)(() => Promise.resolve(null));
    const permissions = permissionsOf({ ...service, formats: config.formats ?? [] });
    await service.close();
    return permissions;
  } finally {
    network.end();
  }
}
