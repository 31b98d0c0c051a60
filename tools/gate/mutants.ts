import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor, type CallExpression, type Expression, type Node } from "oxc-parser";
import type { Mutant } from "../mutations/running.ts";

/** The text that replaces a call, from the texts of its arguments. */
type Replace = (args: readonly string[], call: string) => string;

const nothing: Replace = () => "undefined";
const noChanges: Replace = () => "[]";
const first: Replace = ([value = ""]) => value;

/**
 * The functions of the gate (`src/features/auth/gate` and `factors`), which checks that a login has enough proofs. Each
 * has the code that replaces a call of it, as if the gate had agreed.
 */
const calls: Readonly<Record<string, Replace>> = {
  beginLogin: (args) => `__beginWithoutGate(${args.join(", ")})`,
  vouch: (args) => `__vouchWithoutGate(${args.join(", ")})`,
  spend: ([admission]) => `__accountOf(${admission})`,
  isEnough: () => "true",
  checkAssurance: ([, verdict = ""]) => verdict,
  standing: ([, identity = ""]) => identity,
  judge: first,
  withProofs: ([, identity = ""]) => identity,
  withOwnProofs: first,
  withoutProofs: first,
  findNeeds: () => "1",
  neededByIdentity: () => "1",
  neededLevel: () => "1",
  mustHaveFactor: () => "false",
  needsLevel2: () => "false",
  needsEnrolment: () => "true",
  requireFreshLogin: nothing,
  requireConfirmed: nothing,
  requireProof: nothing,
  requireNotActing: nothing,
  requirePassword: nothing,
  requireRoom: nothing,
  withoutKey: nothing,
  confirmedLevel: () => "2",
  keepOtherLogin: noChanges,
  keepRoom: noChanges,
  keepAdministrator: noChanges,
  endAccount: noChanges,
  endLoginsBy: noChanges,
  requireProvedAddress: nothing,
  isConfirmed: () => "true",
  gateMistakes: noChanges,
  takeBack: nothing,
  weakLoginsEnd: noChanges,
  endWeakLogins: nothing,
  endWeakLoginsOf: () => "Promise.resolve()",
  withHold: ([, proof = ""]) => proof,
  confirmsByMail: () => "true",
  isByRecovery: () => "false",
  hasJustSignedUp: () => "true",
  requirePerson: nothing,
  endOldest: nothing,
  // No user has the id 0, so this call drops nothing.
  dropCodes: () => "dropCodes(0)",
};

/**
 * Methods of the gate. Other objects have methods with the same names, so each key also contains the name of the
 * object.
 */
const methods: Readonly<Record<string, Replace>> = {
  "pending.count": () => "1",
  "pending.end": noChanges,
  "tries.count": () => "{ isLast: false }",
};

/** The names of all functions of the gate. */
export const gateFunctions: readonly string[] = [...Object.keys(calls), ...Object.keys(methods)];

/** Other folders have different functions with these names. So only their calls in files of the gate are replaced. */
const onlyOfGate = new Set(["judge", "standing", "endOldest", "requireRoom", "requirePassword", "requireConfirmed"]);
const gateFile = /\/auth\/(gate|factors)\/|\/people\/fresh-proof\.ts$|\/scheme\/(joining|assurance)\.ts$/;

/** The functions that the changed calls use. They are added to the file. */
function helpers(file: string): string {
  const admission = path.posix.relative(path.posix.dirname(file), "src/features/auth/gate/admission.ts");
  const from = admission.startsWith(".") ? admission : `./${admission}`;
  return `
import { admit as __admit } from ${JSON.stringify(from)};
const __accountOf = (given: any): any => ({ ...given, id: given.userId });
const __beginWithoutGate = async (context: any, { account, proofs, begin, options }: any): Promise<any> =>
  begin.start(context, __admit(account, proofs), options);
const __vouchWithoutGate = async (...args: any[]): Promise<any> => {
  const [context, account] = args.length > 2 && "store" in args[0] ? args.slice(1) : args;
  return __admit(account, context.requireIdentity().proofs ?? []);
};
`;
}

/**
 * Returns a change for each call of the gate in a file, and for each refusal (`if … throw`) if `withRefusals` is true.
 */
export function collectMutants(root: string, file: string, withRefusals: boolean): readonly Mutant[] {
  const source = readFileSync(path.join(root, file), "utf8");
  const found: Mutant[] = [];
  const text = ({ start, end }: Pick<Node, "start" | "end">): string => source.slice(start, end);
  const add = ({ start, end }: Pick<Node, "start" | "end">, instead: string): void => {
    const line = source.slice(0, start).split("\n").length;
    const removed = source.slice(start, end).replaceAll(/\s+/g, " ").slice(0, 120);
    const more = instead.includes("__") ? helpers(file) : "";
    found.push({ file, line, removed, source: source.slice(0, start) + instead + source.slice(end) + more });
  };
  const { program } = parseSync(file, source);
  new Visitor({
    CallExpression(call) {
      const replace = findReplacement(call, gateFile.test(file));
      if (replace === undefined) return;
      const args = call.arguments.map((argument) => text(argument));
      add(call, `(${replace(args, text(call))})`);
    },
    IfStatement(statement) {
      if (withRefusals && statement.alternate === null && isRefusal(statement.consequent)) add(statement, ";");
    },
    Property({ key, value, start, end }) {
      // Replaces the guard of an endpoint by one that refuses nothing.
      if (
        key.type === "Identifier" &&
        key.name === "guard" &&
        value.type === "Identifier" &&
        value.name === "withoutKey"
      )
        add({ start, end }, "guard: () => undefined");
    },
  }).visit(program);
  return found;
}

function findReplacement({ callee }: CallExpression, isGate: boolean): Replace | undefined {
  const findByName = (name: string): Replace | undefined =>
    isGate || !onlyOfGate.has(name) ? own(calls, name) : undefined;
  if (callee.type === "Identifier") return findByName(callee.name);
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return undefined;
  const { name } = callee.property;
  return own(methods, `${lastName(callee.object)}.${name}`) ?? findByName(name);
}

function own(table: Readonly<Record<string, Replace>>, name: string): Replace | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function lastName(expression: Expression): string {
  if (expression.type === "Identifier") return expression.name;
  return expression.type === "MemberExpression" && expression.property.type === "Identifier"
    ? expression.property.name
    : "";
}

/** Returns true for a statement that only throws. */
function isRefusal(statement: Node): boolean {
  if (statement.type === "ThrowStatement") return true;
  return statement.type === "BlockStatement" && statement.body.length === 1 && statement.body.every(isRefusal);
}
