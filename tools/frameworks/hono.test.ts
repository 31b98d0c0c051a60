import { once } from "node:events";
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { app, service } from "./hono.ts";
import { testFramework } from "./promises.ts";

testFramework("Hono", async () => {
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  await once(server, "listening");
  return {
    server,
    knowsQuery: true,
    caller: { address: "203.0.113.7", encrypted: true, viaTrustedProxy: true },
    async close() {
      server.close();
      await once(server, "close");
      await service.close();
    },
  };
});
