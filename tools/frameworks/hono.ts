import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { startService } from "./service.ts";

export const service = await startService({ trustedProxies: ["127.0.0.1"] });
export const app = new Hono();

app.use("/api/*", (context, next) => {
  const { pathname } = new URL(context.req.url);
  if (!service.serves(pathname)) return next();
  return service.fetch(context.req.raw, { peer: getConnInfo(context).remote.address ?? null });
});

app.post("/api/echo", async (context) => context.json(await context.req.json()));
