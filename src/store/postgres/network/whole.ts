import type pg from "pg";
import type { Secret } from "../../../core/crypto/secret.ts";
import { CopyError } from "../../copy.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../../store.ts";
import { readAddress, type PostgresAddress } from "./address.ts";
import { connectPatiently } from "./clients.ts";
import { openingError, requireServer } from "./server.ts";
import { createSession, type Session } from "./session.ts";

/** A connection on which one transaction reads or creates the whole database. */
export interface Whole {
  readonly session: Session;
  readonly address: PostgresAddress;
  /** Converts an error of PostgreSQL into the error that the caller gets. */
  convertError(error: unknown): unknown;
  /** Closes the connection. Uncommitted changes are rolled back. */
  close(): Promise<void>;
}

/** Connects to the database. The session has no time limit for queries. */
export async function connectWhole(url: Secret): Promise<Whole> {
  const address = readAddress(url);
  const convertError = (error: unknown): unknown => {
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
    const session = createSession(client, false);
    await requireServer(session);
    return { session, address, convertError, close };
  } catch (error) {
    await close();
    throw convertError(error);
  }
}

/** Runs work over a `Whole` connection, and closes the connection. */
export async function useWhole<T>(url: Secret, work: (whole: Whole) => Promise<T>): Promise<T> {
  const whole = await connectWhole(url);
  try {
    return await work(whole);
  } catch (error) {
    throw whole.convertError(error);
  } finally {
    await whole.close();
  }
}

/** The SQL that removes the time limits of a transaction, independent of the server's settings. */
export const unhurried = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
