import type { Store } from "../../../store/store.ts";
import type { Composed } from "../../mail/contract.ts";
import type { LinkPage, PurposeDeclaration } from "./contract.ts";
import { findProof } from "./proofs.ts";
import type { ProofTokens } from "./tokens.ts";

/** The parts that compose the mails of stored proofs. */
export interface ComposerOptions {
  readonly tokens: ProofTokens;
  readonly declarations: ReadonlyMap<string, PurposeDeclaration>;
  /** Returns the link of a purpose with this token. */
  formatLink(purpose: PurposeDeclaration & { readonly path: LinkPage }, token: string): string;
}

/** The data of a queued mail. */
export interface QueuedMail extends Readonly<Record<string, string | number>> {
  /** The id of the stored proof. */
  readonly proof: string;
  /** The expiry of the link in the mail, in milliseconds since the epoch. */
  readonly until: number;
}

/** Composes the mails of stored proofs when they are sent. */
export interface Composer {
  /** Returns null if there is nothing to send: the proof was used or has expired, or no user has the address. */
  compose(about: QueuedMail, delivery: { readonly store: Store; readonly now: number }): Promise<Composed | null>;
  /** Returns how many mails were not sent because their link had expired. */
  expired(): number;
}

/** Makes the composer of a service. */
export function makeComposer({ tokens, declarations, formatLink }: ComposerOptions): Composer {
  let expired = 0;
  return {
    async compose({ proof: id, until }, { store, now }) {
      if (until <= now) {
        expired++;
        return null;
      }
      const proof = await findProof(store, id);
      const purpose = proof === null ? undefined : declarations.get(proof.purpose);
      if (proof === null || purpose === undefined || (proof.userId === null && proof.data === null)) return null;
      if (proof.notice !== null) return { to: proof.address, template: proof.notice, values: {} };
      const { path } = purpose;
      const link =
        path === undefined ? {} : { link: formatLink({ ...purpose, path }, tokens.deriveToken(id, purpose.name)) };
      const code = proof.codesUntil > now ? { code: tokens.deriveCode(id) } : {};
      return { to: proof.address, template: purpose.template, values: { ...link, ...code } };
    },
    expired: () => expired,
  };
}
