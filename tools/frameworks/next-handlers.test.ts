import { once } from "node:events";
import { createServer } from "node:http";
import path from "node:path";
import next from "next";
import { getService } from "./next/service.ts";
import { testFramework } from "./promises.ts";

testFramework("route handlers of Next.js", async () => {
  const app = next({ dir: path.join(import.meta.dirname, "next") });
  await app.prepare();
  const handle = app.getRequestHandler();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    knowsQuery: false,
    caller: { address: "unknown", encrypted: true, viaTrustedProxy: false },
    async close() {
      server.close();
      await once(server, "close");
      await app.close();
      await (await getService()).close();
    },
  };
});
