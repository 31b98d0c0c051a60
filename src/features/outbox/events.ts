import { administrator } from "../../access/permission/permission.ts";
import { mount, type Mount } from "../../http/mount/mount.ts";
import { boolean, dateTime, enumeration, integer, json, text } from "../../resource/kinds/fields.ts";
import { uuid } from "../../resource/kinds/uuid.ts";
import { defineResource } from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";

const readOnly = { readOnly: true } as const;

/** The events that are not delivered yet, with a row for each subscriber, and the queued jobs. Administrators can read them. */
export const events = defineResource({
  name: "event",
  plural: "outbox",
  description: "Changes of records that have not reached their subscriber yet, and jobs that are not done yet.",
  fields: {
    subscriber: text({ ...readOnly, maxLength: 100, description: "The subscriber, or the worker of a job." }),
    resource: text({ ...readOnly, maxLength: 100, description: "The plural of the resource. Empty for a job." }),
    record: integer({ ...readOnly, optional: true, description: "The id of the record, if it is a number." }),
    record_uuid: uuid({ ...readOnly, optional: true, description: "The id of the record, if it is a UUID." }),
    kind: enumeration(["create", "replace", "update", "delete", "action", "job"], readOnly),
    action: text({ ...readOnly, optional: true, maxLength: 100 }),
    deleted_with: json({
      ...readOnly,
      optional: true,
      description: "The record (`resource` and `record`) whose deletion also deleted all records that belonged to it.",
    }),
    about: json({ ...readOnly, optional: true, description: "The arguments of a job." }),
    planned: boolean({
      ...readOnly,
      default: false,
      description: "True for a job with a chosen time, before its first try.",
    }),
    at: dateTime(readOnly),
    attempts: integer({ ...readOnly, description: "Number of tries so far." }),
    due_at: dateTime({ ...readOnly, description: "Time of the next try." }),
    failed: boolean({ ...readOnly, description: "True after the last try. An administrator can retry it." }),
    error: text({ ...readOnly, optional: true, maxLength: 500, description: "The error of the last try." }),
    cause: json({ ...readOnly, description: "The ids of the request and of the user who sent it." }),
  },
  filters: { failed: ["eq"], subscriber: ["eq"] },
  sorts: ["due_at"],
  // Lists may scan the table, because few events wait and only administrators read them.
  scans: true,
});

const mounted: Mount = mount(events, {
  permission: { list: administrator, read: administrator, delete: administrator },
});

/**
 * The index for the due events of one subscriber. It skips failed events, jobs for a later time and the events of other subscribers.
 */
const due = ["subscriber", "failed", "planned", "due_at", "id"];

export const mountedEvents: Mount = Object.freeze({
  ...mounted,
  collection: Object.freeze({ ...mounted.collection, indexes: [...(mounted.collection.indexes ?? []), due] }),
});

/** The lease: one row with the process that delivers, and the time when the lease expires. */
export const leases: Collection = {
  name: "outbox_leases",
  key: "text",
  columns: [
    { name: "holder", type: "text" },
    /** Milliseconds since the epoch. */
    { name: "until", type: "integer" },
  ],
};
