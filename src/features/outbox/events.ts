import { administrator } from "../../access/permission/permission.ts";
import { buildCollection } from "../../http/declarations/collection.ts";
import { mount } from "../../http/declarations/mount.ts";
import { jsonOf, storedOf, table, type StoredIn } from "../../http/declarations/table.ts";
import { boolean, dateTime, enumeration, integer, text } from "../../resource/kinds/fields.ts";
import { uuid } from "../../resource/kinds/uuid.ts";
import { defineResource } from "../../resource/resource.ts";
import type { Cause, Column, JSONValue, Row } from "../../store/store.ts";
import type { RecordEvent } from "./contract.ts";

const readOnly = { readOnly: true } as const;

/**
 * The events that are not delivered yet, with a row for each subscriber, and the queued jobs. Administrators can read
 * them.
 */
export const events = defineResource({
  name: "event",
  plural: "outbox",
  description: "Changes of records that have not reached their subscriber yet, and jobs that are not done yet.",
  fields: {
    receiver: text({
      ...readOnly,
      minLength: 0,
      maxLength: 100,
      default: "",
      description: "The subscriber, or the worker of a job. Empty if an older version wrote the row.",
    }),
    subscriber: text({
      ...readOnly,
      minLength: 0,
      maxLength: 100,
      description: "The receiver of a row that an older version wrote. Empty in other rows.",
    }),
    resource: text({ ...readOnly, maxLength: 100, description: "The plural of the resource. Empty for a job." }),
    record: integer({ ...readOnly, optional: true, description: "The id of the record, if it is a number." }),
    record_uuid: uuid({ ...readOnly, optional: true, description: "The id of the record, if it is a UUID." }),
    kind: enumeration(["create", "replace", "update", "delete", "action", "job"], readOnly),
    action: text({ ...readOnly, optional: true, maxLength: 100 }),
    deleted_with: jsonOf<NonNullable<RecordEvent["deletedWith"]>>({
      ...readOnly,
      optional: true,
      description: "The record (`resource` and `record`) whose deletion also deleted all records that belonged to it.",
    }),
    about: jsonOf<JSONValue>({ ...readOnly, optional: true, description: "The arguments of a job." }),
    planned: boolean({
      ...readOnly,
      default: false,
      description: "True for a job with a chosen time, before its first try.",
    }),
    at: dateTime(readOnly),
    attempts: integer({ ...readOnly, description: "Number of tries so far." }),
    due_at: dateTime({ ...readOnly, description: "Time of the next try." }),
    unconfirmed: boolean({
      ...readOnly,
      default: false,
      description: "True if a mail server has the whole mail and its answer is missing.",
    }),
    failed: boolean({ ...readOnly, description: "True after the last try. An administrator can retry it." }),
    error: text({ ...readOnly, optional: true, maxLength: 500, description: "The error of the last try." }),
    cause: jsonOf<Cause>({ ...readOnly, description: "The ids of the request and of the user who sent it." }),
  },
  filters: { failed: ["eq"], receiver: ["eq"], subscriber: ["eq"] },
  sorts: ["due_at"],
  // Lists may scan the table, because few events wait and only administrators read them.
  scans: true,
});

/**
 * The column with the name of the receiver. Older versions read rows by `subscriber`, and they count an unknown name as
 * a failed try. So this version leaves `subscriber` empty, and older versions skip the row.
 */
export type ReceiverColumn = "receiver" | "subscriber";

/**
 * The indexes for the due events of one receiver. They skip failed events, jobs for a later time and the events of
 * other receivers.
 */
const due = (["receiver", "subscriber"] as const).map((column) => [column, "failed", "planned", "due_at", "id"]);

/** Returns the name of the receiver of a row. */
export function readReceiver(row: EventRow): string {
  const { receiver, subscriber } = storedOf(row);
  return receiver === "" ? subscriber : receiver;
}

/**
 * Keeps the rule that older versions have for a column. With another rule, they would check all rows when they start
 * again.
 */
function withOlderRule(column: Column): Column {
  if (column.name !== "subscriber") return column;
  return { ...column, rule: { ...(column.rule as object), minLength: 1 } };
}

const built = buildCollection(events);

export const mountedEvents = mount(events, {
  permission: { list: administrator, read: administrator, delete: administrator },
  table: Object.freeze({
    ...built,
    columns: built.columns.map(withOlderRule),
    indexes: [...(built.indexes ?? []), ...due],
  }),
});

/** A row of the outbox. */
export type EventRow = Row<StoredIn<typeof mountedEvents.collection>>;

/** Returns the event of a row. */
export function readEvent(row: EventRow): RecordEvent {
  const { id, resource, record, record_uuid, kind, action, deleted_with, at, cause, attempts } = storedOf(row);
  if (kind === "job") throw new TypeError(`The row ${id} of the outbox is a job and no event.`);
  return {
    id,
    resource,
    record: record ?? record_uuid,
    kind,
    action,
    deletedWith: deleted_with,
    at,
    cause,
    attempt: attempts + 1,
  };
}

/** The leases: for each receiver the process that delivers to it, and the time when the lease expires. */
export const leases = table({
  name: "outbox_leases",
  id: "text",
  fields: {
    holder: text(),
    /** Milliseconds since the epoch. */
    until: integer(),
  },
});
