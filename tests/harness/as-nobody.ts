/** The id of a user who owns nothing. */
export const nobody = 65_534;

/** Runs a task as a user other than root, who may lack access to a file. */
export function asNobody<T>(task: () => T): T {
  if (process.getuid!() !== 0) return task();
  process.seteuid!(nobody);
  try {
    return task();
  } finally {
    process.seteuid!(0);
  }
}
