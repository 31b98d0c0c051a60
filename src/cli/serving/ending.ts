/** How long what was written last waits for its reader. */
const UNREAD_MS = 1000;

/** Ends a process that is done: neither what nobody reads keeps it, nor what somebody's own code has left running. */
export function endUnread(): void {
  setTimeout(() => process.exit(), UNREAD_MS).unref();
}
