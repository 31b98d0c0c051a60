import { once } from "node:events";
import { app, service } from "./express.ts";
import { testFramework } from "./promises.ts";

testFramework("Express", async () => {
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    knowsQuery: true,
    caller: { address: "203.0.113.7", encrypted: true, viaTrustedProxy: false },
    async close() {
      server.close();
      await once(server, "close");
      await service.close();
    },
  };
});
