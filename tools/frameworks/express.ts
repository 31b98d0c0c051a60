import express from "express";
import { requestListener } from "latchkey/http";
import { startService } from "./service.ts";

export const service = await startService();
export const app = express();
app.set("trust proxy", "loopback");

// Mounted before any middleware that reads bodies, because the service reads them itself.
app.use(
  requestListener(service, {
    client: ({ ip, secure }: express.Request) => ({ address: ip, encrypted: secure }),
  }),
);

app.use(express.json());
app.post("/api/echo", (request, response) => void response.json(request.body));
