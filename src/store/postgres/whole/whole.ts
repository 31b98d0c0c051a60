import type pg from "pg";
import type { Secret } from "../../../core/crypto/secret.ts";
import { CopyError } from "../../copy.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../../store.ts";
import { readAddress, type Address } from "../address.ts";
import { connectPatiently } from "../network/clients.ts";
import { openingError, requireServer } from "../network/server.ts";
import { sessionOf, type Session } from "../network/session.ts";

/** A connection on which one transaction reads or makes all that there is. */
export interface Whole {
  readonly session: Session;
  readonly address: Address;
  /** The error as the caller is to see it. */
  told(error: unknown): unknown;
  /** Whatever was not committed is gone. */
  close(): Promise<void>;
}

/** Connects, for as long as it takes. */
export async function connectWhole(url: Secret): Promise<Whole> {
  const address = readAddress(url);
  const told = (error: unknown): unknown => {
    if (error instanceof CopyError || error instanceof TypeError) return error;
    if (error instanceof MigrationNeeded || error instanceof StoreSetupError) return error;
    if (error instanceof StoreUnavailable) return error;
    return openingError(error, address);
  };
  let client: pg.Client | null = null;
  const close = async (): Promise<void> => {
    const ending = client;
    client = null;
    await ending?.end().catch(() => undefined);
  };
  try {
    client = await connectPatiently(address);
    const session = sessionOf(client, false);
    await requireServer(session);
    return { session, address, told, close };
  } catch (error) {
    await close();
    throw told(error);
  }
}

/** Does something over such a connection. */
export async function useWhole<T>(url: Secret, work: (whole: Whole) => Promise<T>): Promise<T> {
  const whole = await connectWhole(url);
  try {
    return await work(whole);
  } catch (error) {
    throw whole.told(error);
  } finally {
    await whole.close();
  }
}

/** Lets a transaction take its time, whatever the server's settings are. */
export const unhurried = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
