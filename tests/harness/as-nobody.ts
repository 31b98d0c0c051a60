/** The id of a user who owns nothing. */
export const nobody = 65_534;

/**
 * Runs a task without the rights of root, so that file permissions apply to it. Changes the user only if the process
 * runs as root.
 */
export function asNobody<T>(task: () => T): T {
  if (process.getuid!() !== 0) return task();
  process.seteuid!(nobody);
  try {
    return task();
  } finally {
    process.seteuid!(0);
  }
}
