import { createServer } from "node:http";
import { requestListener } from "latchkey/http";
import next from "next";
import { getService } from "./service.ts";

export const app = next({ dir: import.meta.dirname });
await app.prepare();
const handle = app.getRequestHandler();
const answer = requestListener(await getService());

export const server = createServer((request, response) =>
  answer(request, response, () => void handle(request, response)),
);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
