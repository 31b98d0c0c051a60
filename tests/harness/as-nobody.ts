/** The id of a user who owns nothing. */
export const nobody = 65_534;

/** Does something as somebody who is not root, and so may be kept from a file. */
export function asNobody<T>(task: () => T): T {
  if (process.getuid!() !== 0) return task();
  process.seteuid!(nobody);
  try {
    return task();
  } finally {
    process.seteuid!(0);
  }
}
