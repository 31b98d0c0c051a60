import Fastify from "fastify";
import { requestListener } from "latchkey/http";
import { startService } from "./service.ts";

export const service = await startService();
export const app = Fastify({ trustProxy: "loopback" });

// In this hook, Fastify has not read the body yet, so the service can read it.
app.addHook("onRequest", (request, reply, done) => {
  if (!service.serves(request.raw.url ?? "")) return done();
  reply.hijack(); // Fastify leaves the response to Latchkey
  const { ip, protocol } = request;
  requestListener(service, { client: () => ({ address: ip, encrypted: protocol === "https" }) })(
    request.raw,
    reply.raw,
  );
});

app.post("/api/echo", (request) => request.body);
