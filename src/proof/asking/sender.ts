import type { World } from "../world/world.ts";
import { describeThrown } from "./fault.ts";
import { headersOf, type ProveAnswer, type ProveRequest } from "./request.ts";

/** The longest wait for an answer, in milliseconds. */
const LONGEST_MS = 3000;

/** Sends the requests of one world, one after the other. */
export interface Sender {
  /** Returns the answer. Returns null if there is none, which is listed. */
  send(request: ProveRequest): Promise<ProveAnswer | null>;
  /** The number of requests so far. */
  count(): number;
}

/** Lists a request that could not be tried. */
export type ListNotTried = (request: ProveRequest, reason: string) => void;

/** Makes a sender. An endpoint that did not answer once is not asked again. */
export function makeSender(world: World, listNotTried: ListNotTried): Sender {
  const hanging = new Set<string>();
  let sent = 0;
  return {
    count: () => sent,
    async send(request) {
      const endpoint = `${request.method} ${request.route}`;
      if (hanging.has(endpoint)) return null;
      const answer = await inTime(ask(world, request, ++sent));
      for (const address of world.takeConnections())
        listNotTried(request, `its code connects to ${address}, which is refused here`);
      if (answer === null) {
        hanging.add(endpoint);
        listNotTried(request, `it gives no answer within ${LONGEST_MS / 1000} seconds`);
        return null;
      }
      const fault = world.takeFault();
      if (answer.status >= 500 && request.isGuessed !== true)
        listNotTried(request, fault === null ? `it answers ${answer.status}` : describeThrown(fault));
      return answer;
    },
  };
}

async function ask(world: World, request: ProveRequest, turn: number): Promise<ProveAnswer> {
  const { body, method, path } = request;
  const url = `http://localhost${world.service.basePath}${path}`;
  const sent = new Request(url, {
    method,
    headers: headersOf(request),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // Every request comes from another address, because limits count by address.
  const peer = `127.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`;
  const response = await world.service.fetch(sent, { peer });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function inTime<T>(work: Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), LONGEST_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
