import type * as nest from "./nest.ts";
import { testFramework } from "./promises.ts";

const compiled = new URL("generated/nest.js", import.meta.url).href;

testFramework("NestJS", async () => {
  const { app, service } = (await import(compiled)) as typeof nest;
  await app.listen(0, "127.0.0.1");
  return {
    server: app.getHttpServer(),
    knowsQuery: true,
    caller: { address: "203.0.113.7", encrypted: true, viaTrustedProxy: false },
    async close() {
      await app.close();
      await service.close();
    },
  };
});
