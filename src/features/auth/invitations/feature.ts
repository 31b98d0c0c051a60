import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { Mailbox } from "../mailbox/contract.ts";
import { PRUNE_SECONDS } from "../people/options.ts";
import type { AccountsFeature } from "../people/people.ts";
import { acceptEndpoints } from "./accept-endpoints.ts";
import { membershipEndpoints } from "./endpoints.ts";
import { dueInvitations, INVITATION_SECONDS, invitationsCollection } from "./invitations.ts";
import type { InvitingParts } from "./parts.ts";

/**
 * Invites people by mail to groups: `mount(membership, { invitations: true })` adds `POST`, `GET` and `DELETE` of
 * `/memberships/invitations`. The link of the mail leads through the login or a new account to the membership
 * (`POST /api/invitations/accept/`). An invitation is judged as a creation by its sender, when it is sent and when it is
 * accepted.
 *
 * @example
 * ```ts part
 * features: [people, events, mails, box, groupInvitations(people, box)],
 * mounts: [mount(project, { … }), mount(membership, { permission, invitations: true })],
 * ```
 */
export function groupInvitations(people: AccountsFeature, mailbox: Feature<Mailbox>): Feature {
  return defineFeature({
    name: "group-invitations",
    needs: [people, mailbox],
    setUp(host) {
      const { accounts, changing } = host.use(people);
      const box = host.use(mailbox);
      return {
        offer: null,
        collections: [invitationsCollection],
        endpointsOfInvitations(mounts) {
          const purpose = box.purpose({
            name: "membership",
            linkSeconds: INVITATION_SECONDS,
            codes: false,
            template: "membership",
            path: "invitation",
          });
          const { store, ownOrigins, service } = host;
          const parts: InvitingParts = { accounts, changing, purpose, store, ownOrigins, service };
          return [...mounts.flatMap((mount) => membershipEndpoints(parts, mount)), ...acceptEndpoints(parts, mounts)];
        },
        upkeep: [{ everySeconds: PRUNE_SECONDS, due: (now) => [dueInvitations(now)] }],
        tags: { invitations: "Invitations to groups by mail." },
      };
    },
  });
}
