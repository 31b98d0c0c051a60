import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a free port of this machine. It is outside of the range for automatic ports, because another process could get it before its use.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createServer();
    const isFree = once(server.listen(port, "127.0.0.1"), "listening").then(
      () => true,
      () => false,
    );
    if (!(await isFree)) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
