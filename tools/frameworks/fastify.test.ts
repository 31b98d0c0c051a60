import { app, service } from "./fastify.ts";
import { testFramework } from "./promises.ts";

testFramework("Fastify", async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    server: app.server,
    knowsQuery: true,
    caller: { address: "203.0.113.7", encrypted: true, viaTrustedProxy: false },
    async close() {
      await app.close();
      await service.close();
    },
  };
});
