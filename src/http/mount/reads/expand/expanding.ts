import { after, type Eventually } from "../../../../core/eventually.ts";
import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import { DEFAULT_LIMIT } from "../../../../resource/page-size.ts";
import type { BesideQuery, ListQuery, ListText, StoredRecord } from "../../../../store/store.ts";
import type { ServedMount } from "../../../declarations/mount.ts";
import type { Exchange } from "../../../request/exchange.ts";
import type { Params } from "../../../request/path.ts";
import { takeTurn } from "../../../scheduling/slices.ts";
import { areColumns } from "../../older/translating.ts";
import { askedWithPage, isAppended, MAX_EXPANDED_CHARACTERS, writeRecords, type ResponseState } from "./expanded.ts";
import { formatPlans, buildPlans, type Expansion, type Plan } from "./expansion.ts";
import { cutPage, Place } from "./page-records.ts";

/** The columns of records to show, and their expansions. */
export interface RecordSelection {
  readonly mount: ServedMount;
  /** The members of the record itself. */
  readonly columns: readonly string[];
  readonly expansions: readonly Expansion[];
}

/** The JSON text of records with their expansions. */
export interface ExpandedJSON {
  readonly json: string;
}

/** The maximum length of a cached text, in characters. */
const longestRemembered = 128 * 1024;
const mostRemembered = 8;

/**
 * The cached expansions of pages, for each view of the mount. A store returns the same page object only until the next
 * commit, so the expansions are still valid.
 */
const remembered = new WeakMap<ListText, WeakMap<ServedMount, Map<string, ExpandedJSON>>>();

/** The plans for the expansions of a page, made before the page is read. */
export interface Expanding {
  readonly showing: RecordSelection;
  readonly plans: readonly Plan[];
  /** The plans whose records the store may return with the page, in the order of `beside`. */
  readonly pagePlans: readonly Plan[];
  readonly beside: readonly BesideQuery[];
}

/** Returns the queries for the expansions of a page. */
export function buildExpanding(exchange: Exchange, showing: RecordSelection, { limit, long }: ListQuery): Expanding {
  const plans = buildPlans(showing.mount, exchange, showing.expansions);
  const pagePlans: Plan[] = [];
  const beside: BesideQuery[] = [];
  if (long !== true && limit <= DEFAULT_LIMIT)
    for (const plan of plans) {
      const question = askedWithPage(plan);
      if (question === null) continue;
      pagePlans.push(plan);
      beside.push(question);
    }
  return { showing, plans, pagePlans, beside };
}

/** Expands a page. The page must have all columns of its records. */
export function expandPage(
  exchange: Exchange,
  { showing, plans, pagePlans }: Expanding,
  page: ListText,
): Eventually<ExpandedJSON> {
  const { columns } = showing;
  const name = formatPlans(plans, exchange);
  const key = name === null ? null : `${columns.join()} ${name}`;
  const cached = key === null ? undefined : remembered.get(page)?.get(showing.mount)?.get(key);
  if (cached !== undefined) return cached;
  const turn = page.count > DEFAULT_LIMIT ? takeTurn() : undefined;
  return after(turn, async () => {
    const outer = readOuterParams(exchange);
    const places =
      (areColumns(showing.mount, null) && plans.every(isAppended) ? cutPage(page, columns, outer) : null) ??
      (valueOfJSON(page.json) as readonly StoredRecord[]).map((record) => new Place(record, outer));
    const pageTexts = new Map(page.beside?.map((texts, at) => [pagePlans[at]!, texts]));
    const texts = await write(exchange, showing, { plans, pageTexts }, places);
    const shown = { json: `[${texts.join()}]` };
    if (key !== null && shown.json.length <= longestRemembered) remember(page, showing.mount, key, shown);
    return shown;
  });
}

function remember(page: ListText, mount: ServedMount, key: string, shown: ExpandedJSON): void {
  let byMount = remembered.get(page);
  if (byMount === undefined) remembered.set(page, (byMount = new WeakMap<ServedMount, Map<string, ExpandedJSON>>()));
  let cache = byMount.get(mount);
  if (cache === undefined) byMount.set(mount, (cache = new Map<string, ExpandedJSON>()));
  if (cache.size < mostRemembered) cache.set(key, shown);
}

/** Expands one record. */
export async function expandRecord(
  exchange: Exchange,
  showing: RecordSelection,
  record: StoredRecord,
): Promise<ExpandedJSON> {
  const plans = buildPlans(showing.mount, exchange, showing.expansions);
  const [json] = await write(exchange, showing, { plans, pageTexts: new Map() }, [
    new Place(record, readOuterParams(exchange)),
  ]);
  return { json: json! };
}

function write(
  exchange: Exchange,
  { mount, columns }: RecordSelection,
  { plans, pageTexts }: { readonly plans: readonly Plan[] } & Pick<ResponseState, "pageTexts">,
  places: readonly Place[],
): Promise<readonly string[]> {
  const writing: ResponseState = { exchange, left: MAX_EXPANDED_CHARACTERS, pageTexts };
  return writeRecords(writing, { mount, columns, plans, places });
}

function readOuterParams({ params }: Exchange): Params {
  const { id: _, ...outer } = params;
  return outer;
}
