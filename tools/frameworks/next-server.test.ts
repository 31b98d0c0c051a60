import { once } from "node:events";
import { testFramework } from "./promises.ts";

process.env["PORT"] = "0";

testFramework("a custom server with Next.js", async () => {
  const { app, server } = await import("./next/server.ts");
  const { getService } = await import("./next/service.ts");
  if (!server.listening) await once(server, "listening");
  return {
    server,
    knowsQuery: true,
    caller: { address: "203.0.113.7", encrypted: true, viaTrustedProxy: true },
    async close() {
      server.close();
      await once(server, "close");
      await app.close();
      await (await getService()).close();
    },
  };
});
