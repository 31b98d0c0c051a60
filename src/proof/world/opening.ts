import type { Service } from "../../composition/create-service.ts";
import type { Identity } from "../../core/identity.ts";
import type { People } from "../../features/auth/people/people.ts";
import { identityOf } from "../../features/auth/records/accounts.ts";
import { credentialOf, type Actor } from "../content/actors.ts";
import type { WatchedStore } from "../content/watched-store.ts";
import type { FindIdentity } from "./callers.ts";

/** The service that `prove` asks, and the watch over its store. */
export interface ProvedService {
  readonly service: Service;
  readonly people: People;
  readonly watch: WatchedStore;
  /** Returns the exception of the last request, once. */
  takeFault(): unknown;
  /** Returns the addresses to which code has connected since the last call. */
  takeConnections(): readonly string[];
}

/** Opens the configured service on an empty database in memory. */
export type OpenProved = (findIdentity: FindIdentity) => Promise<ProvedService>;

/** The identity of an actor, from the current account: a test of the service needs no login. */
export async function findIdentity({ people, service }: ProvedService, actor: Actor): Promise<Identity | null> {
  const account = actor.userId === null ? null : await people.accounts.find(actor.userId);
  if (account === null || !account.active) return null;
  const acting = actor.actingId === null ? null : await people.accounts.find(actor.actingId);
  const more = credentialOf(actor, null, service.now());
  return identityOf(account, "prove", {
    scopes: actor.scopes,
    ...more,
    ...(acting === null ? {} : { actor: { id: acting.id, username: acting.username } }),
  });
}
