import { administrator } from "../../access/permission/permission.ts";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  aFunction,
  aFullList,
  isObject,
  isText,
  membersMistakes,
  optional,
  shown,
  wholeFrom,
} from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { problem } from "../../core/problem/problem.ts";
import { defineFeature, type Assembled, type Feature } from "../../feature/feature.ts";
import { builtInEndpoint } from "../../http/declarations/endpoint.ts";
import type { Alongside } from "../../http/request/alongside.ts";
import type { JSONValue, Store } from "../../store/store.ts";
import type { Outbox, Queue, Subscriber, Worker } from "./contract.ts";
import { createCourier } from "./courier.ts";
import type { DeliveryOptions } from "./delivery.ts";
import { leases, mountedEvents } from "./events.ts";
import { aName, createQueue, requireWorker } from "./jobs.ts";

/** Options of `outbox()`. */
export interface OutboxOptions {
  /** The subscribers of the application. Features add more with `subscribe`. */
  readonly subscribers?: readonly Subscriber[];
  /**
   * The maximum number of tries. After the last one, the event has failed. Default: 12. The last of 12 tries is between
   * a quarter of an hour and half an hour after the first.
   */
  readonly attempts?: number;
  /** The longest time of one try, in seconds. Default: 30. At most 300. */
  readonly timeoutSeconds?: number;
  /** Returns a number from 0 up to 1. It varies the pauses between tries. Default: `Math.random`. */
  readonly random?: () => number;
}

const { collection } = mountedEvents;
const LOOK_MS = 1000;
const NO_RECEIVER =
  "there is no subscriber and no worker; name subscribers, or call subscribe or worker in the setUp of a feature that needs it";

/**
 * Sends every write of a mounted resource to subscribers, and runs the queued jobs of features. Each event and each job
 * is delivered at least once. One process at a time delivers to a receiver. The transaction of a write also writes its
 * event, so neither exists without the other. A delivered event is deleted. A failed delivery is tried again after a
 * pause, which grows each time. After the last try, the event stays at `/outbox`. Administrators retry it
 * (`POST /outbox/{id}/retry`) or delete it.
 *
 * @example
 * ```ts
 * import { defineResource, text } from "latchkey";
 * import { outbox } from "latchkey/features";
 *
 * const notes = defineResource({ name: "note", fields: { body: text() } });
 * const deliver = ({ record }: { readonly record: unknown }) => console.log(record);
 * export const events = outbox({ subscribers: [{ name: "search-index", to: [notes], deliver }] });
 * ```
 */
export function outbox(options: OutboxOptions = {}): Feature<Outbox> {
  return defineFeature({
    name: "outbox",
    setUp({ store, observe, now }) {
      requireOptions(options, checks, { more: mistakesOfAll(options) });
      const { attempts = 12, timeoutSeconds = 30, random = Math.random } = options;
      const subscribers = [...(options.subscribers ?? [])];
      const workers: Worker[] = [];
      const shared = { observe, now, random, attempts, timeoutSeconds };
      const delivery: DeliveryOptions = { store, subscribers, workers, ...shared };
      const courier = createCourier(delivery);
      const retry = (id: number): Promise<boolean> => retryEvent(store, id, now());
      let timer: NodeJS.Timeout | undefined;
      return {
        offer: {
          subscribe(subscriber: Subscriber): void {
            const mistakes = collectMistakes(subscriber, [...subscribers, ...workers], "the subscriber");
            if (mistakes.length > 0) throw new DeclarationError(mistakes);
            subscribers.push(subscriber);
          },
          worker<A extends JSONValue>(worker: Worker<A>): Queue<A> {
            requireWorker(worker, [...subscribers, ...workers]);
            workers.push(worker as Worker);
            return createQueue(worker.name, courier.soon) as Queue<A>;
          },
          deliverDue: courier.run,
          retry,
        },
        mounts: [mountedEvents],
        collections: [leases],
        alongside: eventsFor(subscribers, now, courier.soon),
        mistakes: (assembled) =>
          subscribers.length + workers.length === 0 ? [NO_RECEIVER] : unmounted(subscribers, assembled),
        measure: courier.measure,
        endpoints: [
          builtInEndpoint({
            method: "POST",
            path: "/outbox/{id}/retry",
            access: administrator,
            documentation: {
              summary: "Deliver an event again",
              tag: "outbox",
              responses: { 204: { description: "The event is due now." } },
            },
            async handle(context) {
              if (!(await retry(context.id()))) throw problem("not_found");
              courier.soon();
              return { status: 204 };
            },
          }),
        ],
        start() {
          timer = setInterval(courier.look, LOOK_MS).unref();
        },
        async stop() {
          clearInterval(timer);
          await courier.stop();
        },
      };
    },
  });
}

/** Returns a mistake for each subscriber to a resource that is not mounted, because it would never get an event. */
function unmounted(subscribers: readonly Subscriber[], { mounts }: Assembled): readonly string[] {
  const mounted = mounts.map(({ resource }) => resource);
  return subscribers.flatMap(({ name, to }) =>
    to
      .filter((resource) => !mounted.includes(resource))
      .map(
        ({ path }) =>
          `the subscriber ${shownName(name)} names ${path}, which is not mounted${suggestion(
            path,
            mounted.map((each) => each.path),
          )}`,
      ),
  );
}

function mistakesOfAll(options: unknown): readonly string[] {
  const subscribers = isObject(options) ? options["subscribers"] : null;
  if (!Array.isArray(subscribers)) return [];
  return Array.from(subscribers, (each: unknown, at) =>
    collectMistakes(each, subscribers.slice(0, at), `subscribers[${at}]`),
  ).flat();
}

function collectMistakes(subscriber: unknown, others: readonly unknown[], otherwise: string): readonly string[] {
  if (!isObject(subscriber)) return [`${otherwise} is ${shown(subscriber)}; it has to be an object`];
  const { name } = subscriber;
  const isTwice = others.some((other) => isObject(other) && other["name"] === name);
  const place = isText(name) ? `the subscriber ${shownName(name)}` : otherwise;
  return [
    ...membersMistakes(subscriber, subscriberChecks),
    ...(isTwice ? ["the name is there twice; rename one"] : []),
  ].map((mistake) => `${place}: ${mistake}`);
}

const subscriberChecks: ChecksOf<Subscriber> = {
  name: aName,
  to: (value) => {
    const cure = "it has to name resources, as defineResource gives them: to: [orders]";
    if (!Array.isArray(value) || value.length === 0) return cure;
    const wrong = value.findIndex((each) => !(isObject(each) && isText(each["path"])));
    return wrong === -1 ? null : `${shown(value[wrong])} in it is not a resource; ${cure}`;
  },
  deliver: aFunction,
};

const checks: ChecksOf<OutboxOptions> = {
  subscribers: optional(aFullList),
  attempts: optional(wholeFrom(1, 100)),
  timeoutSeconds: optional((value) =>
    typeof value === "number" && value > 0 && value <= 300 ? null : "it has to be a number of seconds up to 300",
  ),
  random: optional(aFunction),
};

/** Returns the events of a write: one for each subscriber to its resource. */
function eventsFor(subscribers: readonly Subscriber[], now: () => number, soon: () => void): Alongside {
  return ({ resource, kind, action, id, deletedWith, cause }) => {
    const recipients = subscribers.filter(({ to }) => to.includes(resource));
    if (recipients.length === 0) return [];
    const at = new Date(now()).toISOString();
    soon();
    return recipients.map(({ name }) => ({
      kind: "insert",
      collection,
      values: {
        receiver: name,
        subscriber: "",
        resource: resource.plural,
        record: typeof id === "string" ? null : id,
        record_uuid: typeof id === "string" ? id : null,
        kind,
        action,
        deleted_with: deletedWith === null ? null : { resource: deletedWith.resource.plural, record: deletedWith.id },
        about: null,
        planned: false,
        unconfirmed: false,
        at,
        attempts: 0,
        due_at: at,
        failed: false,
        error: null,
        cause: { ...cause },
      },
    }));
  };
}

async function retryEvent(store: Store, id: number, now: number): Promise<boolean> {
  const values = {
    failed: false,
    planned: false,
    unconfirmed: false,
    attempts: 0,
    due_at: new Date(now).toISOString(),
  };
  const outcome = await store.write({ changes: [{ kind: "update", collection, key: id, values }] });
  return outcome.kind === "written";
}
