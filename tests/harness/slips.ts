/** A typical mistake in a declaration, with the messages of the compiler and of the start. */
export interface Slip {
  readonly code: string;
  /** A pattern for the compiler's message. Null: the compiler cannot find it. */
  readonly compiled: RegExp | null;
  /** A pattern for the message that stops the start. Null: there is nothing to run. */
  readonly started: RegExp | null;
}

const field = (code: string, compiled: RegExp, started: RegExp): Slip => ({
  code: `start([mount(defineResource({ name: "thing", fields: { one: ${code} } }), { permission: anyone })])`,
  compiled,
  started,
});

const feature = (code: string, compiled: RegExp, started: RegExp): Slip => ({
  code: `start([], { secret, features: [people, ${code}] })`,
  compiled,
  started,
});

const made = (code: string, compiled: RegExp, started: RegExp): Slip => ({ code, compiled, started });

const endpoint = (code: string, compiled: RegExp | null, started: RegExp): Slip => ({
  code: `start([], { endpoints: [defineEndpoint({ method: "POST", access: anyone, handle: () => ({ status: 204 }), ${code} })] })`,
  compiled,
  started,
});

/** Returns a mistake in an action of the resource `books`. The code sends one request to the action. */
const action = (code: string, compiled: RegExp, started: RegExp): Slip => ({
  code: `write(mount(books, { permission: anyone, actions: { lend: { on: "collection", permission: anyone, ${code} } } }), "/lend")`,
  compiled,
  started,
});

const tenants = `defineUsers({ fields: { tenant_id: integer({ optional: true }) }, identity: ["tenant_id"] })`;

const loans = `defineResource({ name: "loan", fields: { user_id: reference("users"), book_id: reference(books) } })`;

export const slips: readonly Slip[] = [
  made(
    `memberOf(${loans}, { were: { user_id: 1 } })`,
    /'were'.*Did you mean.*'where'/,
    /memberOf: there is no option were; did you mean where\?/,
  ),
  made(
    `sharesGroup(${loans}, { usr: "user_id" })`,
    /'usr'.*Did you mean.*'user'/,
    /sharesGroup: there is no option usr; did you mean user\?/,
  ),
  {
    code: `start([mount(books, { permission: sameAs(${tenants}, "tenant_id") })])`,
    compiled: /"tenant_id"/,
    started: /the permission same tenant_id narrows by the column tenant_id, which does not exist/,
  },
  {
    code: `start([mount(books, { permission: anyOf(administrator, sameAs(${tenants}, "tenant_id", "titel")) })])`,
    compiled: /"titel"/,
    started: /narrows by the column titel, which does not exist; did you mean title\?/,
  },
  {
    code: `sameAs(${tenants}, "tenant_d")`,
    compiled: /"tenant_d"/,
    started: /tenant_d.*did you mean tenant_id\?/,
  },
  field(
    "text({ writeonly: true, uniqe: true })",
    /'writeonly'.*Did you mean.*'writeOnly'/,
    /field one: text: there is no option writeonly; did you mean writeOnly\?\n.*uniqe; did you mean unique\?/,
  ),
  field(
    "text({ optional: true, uniqe: true })",
    /there is no uniqe; did you mean unique\?/,
    /field one: text: there is no option uniqe; did you mean unique\?/,
  ),
  field("text({ max: 5 })", /'max' does not exist in type/, /text: there is no option max; did you mean maxLength\?/),
  field(
    "text({ maxLength: '5' })",
    /'string' is not assignable to type 'number'/,
    /text: maxLength is '5'; it has to be a whole number/,
  ),
  field(
    "integer({ optional: true, minimun: 1 })",
    /there is no minimun; did you mean minimum\?/,
    /integer: there is no option minimun; did you mean minimum\?/,
  ),
  field(
    "number({ optional: true, minimun: -90 })",
    /there is no minimun; did you mean minimum\?/,
    /number: there is no option minimun; did you mean minimum\?/,
  ),
  field(
    "decimal({ scale: 2, maximum: '9', minimun: '1' })",
    /there is no minimun; did you mean minimum\?/,
    /decimal: there is no option minimun; did you mean minimum\?/,
  ),
  field(
    "enumeration(['a'], { optional: true, defualt: 'a' })",
    /there is no defualt; did you mean [a-z" |]*/,
    /enumeration: there is no option defualt; did you mean default\?/,
  ),
  field(
    "reference('authors', { optional: true, onDelte: 'cascade' })",
    /there is no onDelte; did you mean onDelete\?/,
    /reference: there is no option onDelte; did you mean onDelete\?/,
  ),
  field(
    "reference('authors', { onDelete: 'casade' })",
    /"casade"/,
    /reference: onDelete is 'casade'; it has to be one of cascade, restrict; did you mean cascade\?/,
  ),
  field(
    "references('authors', { minItem: 3 })",
    /'minItem'.*Did you mean.*'minItems'/s,
    /references: there is no option minItem; did you mean minItems\?/,
  ),
  field(
    "email({ uniqe: true })",
    /'uniqe'.*Did you mean.*'unique'/,
    /e-mail: there is no option uniqe; did you mean unique\?/,
  ),
  field(
    "boolean",
    /is not assignable to type 'Field/,
    /field one: it is a function and no field; declare one, like text\(\)/,
  ),
  field(
    "defineField({ ...phone, colum: { type: 'text' } }, {})",
    /'colum'.*Did you mean.*'column'/,
    /its kind: there is no option colum; did you mean column\?/,
  ),
  {
    code: `defineResource({ name: "thing", feilds: {} })`,
    compiled: /'feilds'.*Did you mean.*'fields'/,
    started: /resource thing: there is no option feilds; did you mean fields\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, filters: { titel: ["eq"] } })`,
    compiled: /'titel'/,
    started: /filter titel: there is no such field; did you mean title\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, filters: { title: ["stars"] } })`,
    compiled: /"stars"/,
    started: /there is no operator stars; did you mean starts\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text({ maxLength: 9 }) }, sorts: ["titel"] })`,
    compiled: /"titel"/,
    started: /sort titel: there is no such field; did you mean title\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, check: ({ titel }) => (titel === "" ? [] : []) })`,
    compiled: /'titel' does not exist/,
    started: null,
  },
  {
    code: `start([mount(books, { permision: anyone })])`,
    compiled: /'permision'.*Did you mean.*'permission'/,
    started: /mount\(\/books\): there is no option permision; did you mean permission\?/,
  },
  {
    code: `start([mount(books, { permission: { reed: anyone } })])`,
    compiled: /'reed'/,
    started: /mount\(\/books\): permission\.reed is not an action; did you mean read\?/,
  },
  {
    code: `start([mount(books, { permission: owner("ownr_id") })])`,
    compiled: /"ownr_id"/,
    started: /the permission owner narrows by the column ownr_id, which does not exist; did you mean owner_id\?/,
  },
  {
    code: `start([mount(books, { permission: { list: anyOf(administrator, owner("title")) } })])`,
    compiled: /"title"/,
    started:
      /the permission any of .* compares the column title with the id of a user, but the column is of type text; name an/,
  },
  {
    code: `start([mount(books, { permission: owner("title") })])`,
    compiled: /"title"/,
    started:
      /the permission owner compares the column title with the id of a user, but the column is of type text; name an/,
  },
  {
    code: `start([mount(books, { permission: anyone, actions: { lend: { permission: allOf(authenticated, owner("title")), handle: () => ({}) } } })])`,
    compiled: /"title"/,
    started:
      /the permission all of .* compares the column title with the id of a user, but the column is of type text; name an/,
  },
  {
    code: `start([mount(defineResource({ name: "thing", id: "uuid", fields: { one: text() } }), { permission: owner("id") })])`,
    compiled: /"id"/,
    started:
      /the permission owner compares the column id with the id of a user, but the column is of type text; name an/,
  },
  {
    code: `start([mount(books, { permission: { list: { name: "own", columns: ["title"], userIds: ["title"], decide: () => "deny" } } })])`,
    compiled: /"title"/,
    started:
      /the permission own compares the column title with the id of a user, but the column is of type text; name an/,
  },
  {
    code: `start([mount(books, { permission: { list: anyOf(administrator, owner("ownr_id")) } })])`,
    compiled: /"ownr_id"/,
    started: /the permission any of .* narrows by the column ownr_id, which does not exist; did you mean owner_id\?/,
  },
  {
    code: `start([mount(books, { permission: anyone, problems: { delete: ["last_admn"] } })])`,
    compiled: /"last_admn".*Did you mean.*"last_admin"/,
    started: /there is no problem last_admn; did you mean last_admin\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { titel: "x" } }) }))`,
    compiled: /titel/,
    started: /mount\(\/books\): beforeWrite gave something wrong: there is no column titel; did you mean title\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { title: 7 } }) }))`,
    compiled:
      /^(?!.*\bthen, catch\b).*'number' is not assignable to type '(string|KeyOf) \| (string|KeyOf)( \| undefined)?'/s,
    started: /mount\(\/books\): beforeWrite gave a wrong title: A text is required\./,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => problem("conflict") }))`,
    compiled: /a problem is thrown: throw problem\(…\)/,
    started: /mount\(\/books\): beforeWrite gave something wrong: a problem; throw it: throw problem\(…\)/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ title: "x" }) }))`,
    compiled: /title belongs into values/,
    started: /there is no option title; there are values, changes, complete/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { title: Promise.resolve("x") } }) }))`,
    compiled: /'Promise<string>' is not assignable/,
    started: /mount\(\/books\): beforeWrite gave a promise for title; await it\./,
  },
  action(
    `handle: () => problem("conflict")`,
    /a problem is thrown: throw problem\(…\)/,
    /The action lend of \/books gave a problem; throw it: throw problem\(…\)\./,
  ),
  action(
    `handle: () => ({ title: "x" })`,
    /title belongs into values/,
    /The action lend of \/books gave something unknown: there is no option title; there are values/,
  ),
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => {} }))`,
    compiled: /it has to give { values, changes }, or {} to add nothing/,
    started:
      /mount\(\/books\): beforeWrite gave something wrong: it is missing; it has to give { values, changes }, or {}/,
  },
  {
    code: `mount(books, { permission: anyone, expand: { owner: "owner_id" } })`,
    compiled: /no field owner_id refers to a record/,
    started: /mount\(\/books\): expand\.owner: no field owner_id refers to a record; there are none/,
  },
  {
    code: `defineResource({ name: "book", fields: Promise.resolve({ title: text() }) })`,
    compiled: /'Promise<.*is not assignable/,
    started: /resource book: fields is a promise; it has to be a plain object/,
  },
  {
    code: `start([Promise.resolve(mount(books, { permission: anyone }))])`,
    compiled: /'Promise<Mount<.*is missing the following properties/,
    started: /mounts\[0\] is a promise; await it/,
  },
  {
    code: `write(mount(defineResource({ name: "book", fields: { title: text(), state: text({ readOnly: true }), owner_id: integer() } }), { permission: anyone }))`,
    compiled: null,
    started:
      /\/books: the field state has no value, and callers may not send it; give it a default, make it optional, or write it in beforeWrite/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ changes: [{ kind: "insert", collection: mount(authors, { permission: anyone }).collection, values: { name: "a" } }] }) }))`,
    compiled: null,
    started:
      /The store was not opened with a collection "authors"; mount its resource, or name it among the collections of a feature/,
  },
  {
    code: `readConfig({ port: 80 })`,
    compiled: /'port' does not exist in type 'ConfigFile'/,
    started: /port in the config file belongs in settings\. Write settings: { port: … }\./,
  },
  {
    code: `readConfig({ resources: [] })`,
    compiled: /'resources' does not exist in type 'ConfigFile'/,
    started: /resources in the config file is unknown\. The nearest is \w+; there are settings, .*mounts/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { title: "x", titel: "x" } }) }))`,
    compiled: /there is no titel; did you mean title\?/,
    started: /there is no column titel; did you mean title\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: async ({ kind }) => (kind === "delete" ? {} : { values: { titel: "x" } }) }))`,
    compiled: /titel/,
    started: /there is no column titel; did you mean title\?/,
  },
  {
    code: `mount(books, { permission: anyone, beforeWrite: ({ draft }) => ({ values: { title: draft?.values.titel ?? "" } }) })`,
    compiled: /'titel' does not exist.*Did you mean 'title'/s,
    started: null,
  },
  {
    code: `mount(books, { permission: anyone, beforeWrite: ({ current }) => ({ values: { title: current?.titel ?? "" } }) })`,
    compiled: /'titel' does not exist/,
    started: null,
  },
  {
    code: `start([mount(defineResource({ name: "page", fields: { author_id: reference(authrs) } }), { permission: anyone })])`,
    compiled: /'authrs'. Did you mean 'authors'/,
    started: null,
  },
  {
    code: `start([mount(authors, { permission: anyone }), mount(defineResource({ name: "page", fields: { author_id: reference("autors") } }), { permission: anyone })])`,
    compiled: null,
    started: /mount\(\/pages\): the field author_id refers to autors, which is not mounted; did you mean authors\?/,
  },
  {
    code: `integer({ default: ({ identity }) => identity.id })`,
    compiled: /'identity' is possibly 'null'/,
    started: null,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", acces: anyone, handle: () => ({ status: 204 }) })] })`,
    compiled: /'acces'.*Did you mean.*'access'/,
    started: /endpoints\[0\] \(GET \/a\): there is no option acces; did you mean access\?/,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", access: owner("owner_id"), handle: () => ({ status: 204 }) })] })`,
    compiled: /'"owner_id"' is not assignable to type 'never'/,
    started: /the permission owner narrows to rows, but your own endpoint has no rows/,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", access: anyone, documentation: { sumary: "A" }, handle: () => ({ status: 204 }) })] })`,
    compiled: /'sumary'/,
    started: /documentation is an object; there is no option sumary; did you mean summary\?/,
  },
  {
    code: `defineEndpoint({ method: "GET", path: "/a/{name:text}", access: anyone, handle: ({ params }) => ({ status: params.nmae === "a" ? 200 : 204 }) })`,
    compiled: /'nmae' does not exist/,
    started: null,
  },
  {
    code: `start([], { endpoint: [] })`,
    compiled: /'endpoint'.*Did you mean.*'endpoints'/,
    started: /createService: there is no option endpoint; did you mean endpoints\?/,
  },
  {
    code: `start([], { features: [defineFeature({ name: "a", nedes: [], setUp: () => ({ offer: null }) })] })`,
    compiled: /'nedes'.*Did you mean.*'needs'/,
    started: /feature a: there is no option nedes; did you mean needs\?/,
  },
  {
    code: `start([], { features: [defineFeature({ name: "a", setUp: () => ({ offer: null, mount: [] }) })] })`,
    compiled: /there is no mount; did you mean mounts\?/,
    started: /feature a: there is no option mount; did you mean mounts\?/,
  },
  {
    code: `readConfig(defineConfig({ settings: { prot: 8080 } }))`,
    compiled: /'prot' does not exist in type 'ConfigSettings'/,
    started: /settings\.prot in the config file is not a setting\. The nearest is port\./,
  },
  {
    code: `readConfig(defineConfig({ registation: "open" }))`,
    compiled: /'registation'.*Did you mean.*'registration'/,
    started: /registation in the config file is unknown\. The nearest is registration; there are settings, /,
  },
  field(
    "boolean({ optoinal: true })",
    /'optoinal'.*Did you mean.*'optional'/,
    /boolean: there is no option optoinal; did you mean optional\?/,
  ),
  field(
    "dateTime({ readonly: true })",
    /'readonly'.*Did you mean.*'readOnly'/,
    /date-time: there is no option readonly; did you mean readOnly\?/,
  ),
  field("date({ optionl: true })", /'optionl'/, /date: there is no option optionl; did you mean optional\?/),
  field("updatedAt({ optionl: true })", /'optionl'/, /updatedAt: there is no option optionl; did you mean optional\?/),
  field("uuid({ uniqe: true })", /'uniqe'/, /uuid: there is no option uniqe; did you mean unique\?/),
  field("url({ uniqe: true })", /'uniqe'/, /url: there is no option uniqe; did you mean unique\?/),
  field(
    "references('pages', { maxItem: 3 })",
    /'maxItem'/,
    /references: there is no option maxItem; did you mean maxItems\?/,
  ),
  field("array(text(), { maxItem: 3 })", /'maxItem'/, /array: there is no option maxItem; did you mean maxItems\?/),
  field(
    "json({ optionl: true })",
    /'optionl'.*Did you mean.*'optional'/,
    /json: there is no option optionl; did you mean optional\?/,
  ),
  field(
    "standardSchema(schema, { colum: 'text' })",
    /'colum'.*Did you mean.*'column'/,
    /standard: there is no option colum; did you mean column\?/,
  ),
  endpoint(
    `path: "/things/{id:int}"`,
    /there is no \{id:int\}/,
    /endpoints\[0\] .*path is '\/things\/\{id:int\}'; "\{id:int\}" is no parameter; write a whole segment as \{id\}/,
  ),
  endpoint(`path: "/things/{id"`, null, /"\{id" is no parameter; write a whole segment as \{id\}/),
  feature(
    `defineFeature({ name: "own", setUp: () => ({ offer: null, look: { titel: "Books", style: never() } }) })`,
    /'titel'.*'Look'/,
    /feature own: look is an object; there is no option titel; did you mean title\?/,
  ),
  endpoint(
    `path: "/things", produces: "text"`,
    null,
    /produces is 'text'; it has to be a media type, like "text\/calendar/,
  ),
  {
    code: `start([], { features: [accounts({ breachedPasswordsURL: "api.pwnedpasswords.com/range" })] })`,
    compiled: null,
    started: /breachedPasswordsURL is a text; it has to be an http or https address/,
  },
  {
    code: `start([], { formats: [{ mediaType: "text/csv; header", problemMediaType: "csv", tagSuffix: "-csv", contentSecurityPolicy: "sandbox\\n", write: () => "", writeProblem: () => "" }] })`,
    compiled: null,
    started:
      /mediaType is .* like text\/csv\n.*problemMediaType is .*\n.*contentSecurityPolicy is .* no header field can have/,
  },
  endpoint(
    `path: "/things/<int:thing_id>"`,
    null,
    /"<int:thing_id>" is no parameter; write a whole segment as \{thing_id\}/,
  ),
  endpoint(`path: "/things/[id]"`, null, /"\[id\]" is no parameter; write a whole segment as \{id\}/),
  endpoint(`path: "/things/:id"`, null, /":id" is no parameter; write a whole segment as \{id\}/),
  endpoint(`path: "/things/{id}/parts/{id}"`, null, /it has two parameters called id; rename one/),
  endpoint(
    `path: "/things", consumes: ["aplication/json"]`,
    null,
    /POST \/things consumes aplication\/json, which no format reads; did you mean application\/json\?/,
  ),
  {
    code: `start([], { collections: [{ name: "visits", key: "integer", columns: [{ name: "at", tpye: "integer" }] }] })`,
    compiled: /'tpye'/,
    started: /collections\[0\] \(visits\): columns is a list; at: there is no option tpye; did you mean type\?/,
  },
  {
    code: `start([], { collections: [{ name: "visits", key: "integer", colums: [] }] })`,
    compiled: /'colums'.*Did you mean.*'columns'/,
    started: /collections\[0\] \(visits\): there is no option colums; did you mean columns\?/,
  },
  {
    code: `start([], { collections: [{ name: "visits", key: "integer", columns: [{ name: "at", type: "integer" }], indexes: [["ta"]] }] })`,
    compiled: null,
    started: /collections\[0\] \(visits\): an index names the column ta, which does not exist; did you mean at\?/,
  },
  action(
    `handle: () => ({ value: {} })`,
    /there is no value; did you mean values\?/,
    /The action lend of \/books gave something unknown: there is no option value/,
  ),
  action(
    `handle: async () => ({ changes: [], chnages: [] })`,
    /there is no chnages|'chnages'/,
    /there is no option chnages; did you mean changes\?/,
  ),
  action(
    `answer: { total: integer() }, handle: () => ({ answer: { totl: 1 } })`,
    /there is no totl; did you mean total\?/,
    /an answer with unknown fields: there is no option totl; did you mean total\?/,
  ),
  feature(
    `rateLimits({ limts: [] })`,
    /'limts'.*Did you mean.*'limits'/,
    /feature rate-limits: there is no option limts; did you mean limits\?/,
  ),
  feature(
    `consolePages({ title: "A", logoo: "/a.svg" })`,
    /'logoo'.*Did you mean.*'logo'/,
    /feature console: there is no option logoo; did you mean logo\?/,
  ),
  feature(
    `metrics({ permision: anyone })`,
    /'permision'.*Did you mean.*'permission'/,
    /feature metrics: there is no option permision; did you mean permission\?/,
  ),
  {
    code: `csv({ formula: "exact" })`,
    compiled: /'formula'.*Did you mean.*'formulas'/,
    started: /csv: there is no option formula; did you mean formulas\?/,
  },
  feature(
    `documentation({ titel: "A", version: "1" })`,
    /'titel'.*Did you mean.*'title'/,
    /feature documentation: there is no option titel; did you mean title\?\n.*title is missing/,
  ),
  feature(
    `documentation({ title: "A", version: "1", license: { nmae: "MIT" } })`,
    /'nmae'/,
    /license is an object; there is no option nmae; did you mean name\?/,
  ),
  feature(
    `health({ path: "/up" })`,
    /Expected 0 arguments, but got 1/,
    /feature health: it takes no options; leave them out/,
  ),
  feature(
    `basicLogin(people, { enabled: false })`,
    /Expected 1 arguments, but got 2/,
    /feature basic-login: it takes no options/,
  ),
  feature(
    `tokenLogin()`,
    /Expected 1-2 arguments, but got 0/,
    /feature token-login: needs is a list; item 0 is missing, not a feature; create the feature once/,
  ),
  feature(
    `tokenLogin(people, { acessSeconds: 60 })`,
    /'acessSeconds'.*Did you mean.*'accessSeconds'/,
    /feature token-login: there is no option acessSeconds; did you mean accessSeconds\?/,
  ),
  feature(
    `sessionLogin(people, { idelSeconds: 60 })`,
    /'idelSeconds'.*Did you mean.*'idleSeconds'/,
    /feature session-login: there is no option idelSeconds; did you mean idleSeconds\?/,
  ),
  feature(
    `totp(people, { isuer: "Shop" })`,
    /'isuer'.*Did you mean.*'issuer'/,
    /feature totp: there is no option isuer; did you mean issuer\?/,
  ),
  feature(
    `passkeys(people, { rpID: "shop.example" })`,
    /'rpID'.*Did you mean.*'rpId'/,
    /feature passkeys: there is no option rpID; did you mean rpId\?/,
  ),
  {
    code: `confirmed({ withn: 300 })`,
    compiled: /'withn'.*Did you mean.*'within'/,
    started: /there is no option withn; did you mean within\?/,
  },
  feature(
    `apiTokens(people, { enabeld: false })`,
    /'enabeld'.*Did you mean.*'enabled'/,
    /feature api-tokens: there is no option enabeld; did you mean enabled\?/,
  ),
  feature(
    `namedKeys(people, { enabeld: false })`,
    /'enabeld'.*Did you mean.*'enabled'/,
    /feature named-keys: there is no option enabeld; did you mean enabled\?/,
  ),
  feature(
    `remoteUserLogin(people, { haeder: "X-User" })`,
    /'haeder'.*Did you mean.*'header'/,
    /feature remote-user-login: there is no option haeder; did you mean header\?/,
  ),
  feature(
    `customHeaderLogin(people, { tokn: secret, username: "ada" })`,
    /'tokn'.*Did you mean.*'token'/,
    /feature custom-header-login: there is no option tokn; did you mean token\?/,
  ),
  feature(
    `identityProviders(people, { sesions: sessionLogin(people), providers: [] })`,
    /'sesions'.*Did you mean.*'sessions'/,
    /feature identity-providers: there is no option sesions; did you mean sessions\?/,
  ),
  feature(
    `issuerLogin(people, { isuers: [] })`,
    /'isuers'.*Did you mean.*'issuers'/,
    /feature issuer-login: there is no option isuers; did you mean issuers\?/,
  ),
  feature(
    `rateLimits({ limits: [{ name: "few", by: "adress", limit: 1, windowSeconds: 60 }] })`,
    /"adress".*is not assignable/,
    /feature rate-limits: limits\[0\]: by is 'adress'; it has to be one of address.*did you mean address\?/,
  ),
  made(
    `createService({ store, secret, features: mailFeatures((box) => mail(box, { ...mailOptions, titel: "Shop" })) })`,
    /'titel'.*Did you mean.*'title'/,
    /feature mail: there is no option titel; did you mean title\?/,
  ),
  made(
    `createService({ store, secret, features: mailFeatures((box) => mail(box, mailOptions), (mails) => mailbox(people, mails, { lniks: {} })) })`,
    /'lniks'.*Did you mean.*'links'/,
    /feature mailbox: there is no option lniks; did you mean links\?/,
  ),
  made(`smtpSender({ ulr: "smtp://mail.example" })`, /'ulr'/, /smtpSender: there is no option ulr; did you mean url\?/),
  made(
    `assembleService({ sotre: store })`,
    /'sotre'.*Did you mean.*'store'/,
    /createService: there is no option sotre; did you mean store\?/,
  ),
  feature(
    `outbox({ subscribers: [], attemps: 3 })`,
    /'attemps'.*Did you mean.*'attempts'/,
    /feature outbox: there is no option attemps; did you mean attempts\?/,
  ),
  feature(
    `outbox({ subscribers: [{ name: "mail", to: [books], delivr: () => undefined }] })`,
    /'delivr'.*Did you mean.*'deliver'/,
    /feature outbox: the subscriber mail: there is no option delivr; did you mean deliver\?/,
  ),
  feature(
    `outbox({ subscribers: [{ name: "mail", to: ["books"], deliver: () => undefined }] })`,
    /'string' is not assignable to type 'Resource</,
    /feature outbox: the subscriber mail: to is a list; 'books' in it is not a resource; it has to name resources, as defineResource gives them/,
  ),
  {
    code: `start([], { features: [health] })`,
    compiled: /is not assignable to type 'Feature<unknown>'/,
    started: /features\[0\] is a function; make one with defineFeature, or call it: health\(\)/,
  },
  {
    code: `start([], { formats: [csv] })`,
    compiled: /is not assignable to type 'Format'|missing the following properties from type 'Format'/,
    started: /formats\[0\] is a function, not an object; write one, or call it: csv\(\)/,
  },
  made(
    `problem("conflict", "There is none left.")`,
    /has no properties in common|'string' is not assignable|"There is none left."/,
    /problem\(conflict\): it is followed by a text; write { detail: … }/,
  ),
  feature(
    `rateLimits({ limits: [{ name: "few", by: "user", limit: 1, windowSeconds: 60, at: [mount(books, { permission: anyone })] }] })`,
    /'Mount<.*missing the following properties from type 'Resource</,
    /limits\[0\]: at is a list; it has to be a list of resources and endpoints.*a resource as defineResource gives it/,
  ),
  {
    code: `start([], { features: [accounts({ registation: "open" })] })`,
    compiled: /'registation'.*Did you mean.*'registration'/,
    started: /feature accounts: there is no option registation; did you mean registration\?/,
  },
  made(
    `sqliteStore({ pth: ":memory:" })`,
    /'pth'.*Did you mean.*'path'/,
    /sqliteStore: there is no option pth; did you mean path\?/,
  ),
  made(
    `defineUsers({ fields: { tenant: text() }, idntity: ["tenant"] })`,
    /'idntity'.*Did you mean.*'identity'/,
    /idntity.*did you mean identity\?/,
  ),
  made(`defineUsers({ fields: { tenant: text() }, identity: ["tenat"] })`, /"tenat"/, /tenat.*did you mean tenant\?/),
  made(
    `createService({ sotre: store })`,
    /'sotre'.*Did you mean.*'store'/,
    /createService: there is no option sotre; did you mean store\?/,
  ),
  made(`postgresStore({ ulr: secret })`, /'ulr'/, /postgresStore: there is no option ulr; did you mean url\?/),
  made(
    `listen({ respond: () => never() }, { prot: 0 })`,
    /'prot'/,
    /listen: there is no option prot; did you mean port\?/,
  ),
  made(
    `basic({ acounts: never(), passwords: never() })`,
    /'acounts'.*Did you mean.*'accounts'/,
    /basic: there is no option acounts; did you mean accounts\?/,
  ),
  made(
    `session({ sesions: never(), accounts: never() })`,
    /'sesions'.*Did you mean.*'sessions'/,
    /session: there is no option sesions; did you mean sessions\?/,
  ),
  made(
    `token({ tokns: never(), accounts: never() })`,
    /'tokns'.*Did you mean.*'tokens'/,
    /token: there is no option tokns; did you mean tokens\?/,
  ),
  made(
    `bearer({ acess: never() })`,
    /'acess'.*Did you mean.*'access'/,
    /bearer: there is no option acess; did you mean access\?/,
  ),
  made(
    `externalBearer({ isuers: never() })`,
    /'isuers'.*Did you mean.*'issuers'/,
    /externalBearer: there is no option isuers; did you mean issuers\?/,
  ),
  made(
    `customHeader({ token: secret, acount: () => null })`,
    /'acount'.*Did you mean.*'account'/,
    /customHeader: there is no option acount; did you mean account\?/,
  ),
  made(
    `remoteUser({ bindngs: never() })`,
    /'bindngs'.*Did you mean.*'bindings'/,
    /remoteUser: there is no option bindngs; did you mean bindings\?/,
  ),
  made(
    `sessions({ store, idelSeconds: 1, lifetimeSeconds: 1, observe })`,
    /'idelSeconds'.*Did you mean.*'idleSeconds'/,
    /sessions: there is no option idelSeconds; did you mean idleSeconds\?/,
  ),
  made(
    `loginThrottle({ store, limt: 3 })`,
    /'limt'.*Did you mean.*'limit'/,
    /loginThrottle: there is no option limt; did you mean limit\?/,
  ),
  made(
    `makePasswords({ store, accounts: never(), throttle: never(), core: 2 })`,
    /'core'.*Did you mean.*'cores'/,
    /makePasswords: there is no option core; did you mean cores\?/,
  ),
  made(
    `makeRevocations({ store, acessSeconds: 1, endWithGeneration: [], endWithAccount: [] })`,
    /'acessSeconds'.*Did you mean.*'accessSeconds'/,
    /makeRevocations: there is no option acessSeconds; did you mean accessSeconds\?/,
  ),
  made(
    `storeBindings({ stor: store, accounts: never(), observe })`,
    /'stor'.*Did you mean.*'store'/,
    /storeBindings: there is no option stor; did you mean store\?/,
  ),
  made(
    `breachedPasswords({ ulr: "https://a.example", observe })`,
    /'ulr'/,
    /breachedPasswords: there is no option ulr; did you mean url\?/,
  ),
  made(
    `storeAPITokens({ store, secrt: secret, observe })`,
    /'secrt'.*Did you mean.*'secret'/,
    /storeAPITokens: there is no option secrt; did you mean secret\?/,
  ),
  made(
    `storeNamedKeys({ store, secrt: secret, observe })`,
    /'secrt'.*Did you mean.*'secret'/,
    /storeNamedKeys: there is no option secrt; did you mean secret\?/,
  ),
  field(
    `shownOnce({ ownr: "user_id" })`,
    /'ownr'.*Did you mean.*'owner'/,
    /shownOnce: there is no option ownr; did you mean owner\?/,
  ),
  made(
    `mountCredentials(never(), books, { maximm: 1 })`,
    /'maximm'.*Did you mean.*'maximum'/,
    /mountCredentials: there is no option maximm; did you mean maximum\?/,
  ),
  made(
    `accessTokens({ kyes: never(), issuer: "a", lifetimeSeconds: 1, revocations: never() })`,
    /'kyes'/,
    /accessTokens: there is no option kyes; did you mean keys\?/,
  ),
  made(
    `tokenPairs({ store, accounts: never(), access: never(), revocations: never(), secret, issuer: "a", refreshSeconds: 1, familySeconds: 1, graceSecond: 1, observe })`,
    /'graceSecond'.*Did you mean.*'graceSeconds'/,
    /tokenPairs: there is no option graceSecond; did you mean graceSeconds\?/,
  ),
  made(
    `externalIssuers({ isuers: [], ownIssuer: "a", bindings: never(), observe })`,
    /'isuers'.*Did you mean.*'issuers'/,
    /externalIssuers: there is no option isuers; did you mean issuers\?/,
  ),
  made(
    `watchSigningKeys("keys.json", { obsrve: observe })`,
    /'obsrve'.*Did you mean.*'observe'/,
    /watchSigningKeys: there is no option obsrve; did you mean observe\?/,
  ),
  feature(
    `issuerLogin(people, { issuers: [{ issuer: "https://a.example", audiense: "b", jwksURL: "https://a.example/k", algorithms: ["ES256"] }] })`,
    /'audiense'.*Did you mean.*'audience'/,
    /issuers\[0\] has "audiense", which is unknown; did you mean audience\?/,
  ),
  made(
    `olderShape(mount(books, { permission: anyone }), { prefx: "/v1", fields: {} })`,
    /'prefx'.*Did you mean.*'prefix'/,
    /there is no option prefx; did you mean prefix\?/,
  ),
  made(
    `defineProblem({ code: "sold_out", status: 409, titel: "Sold out", detail: "a", why: "b", cure: "c" })`,
    /'titel'.*Did you mean.*'title'/,
    /problem sold_out: there is no option titel; did you mean title\?\n.*title is missing/,
  ),
  made(
    `defineResponse({ name: "quote", fields: { price: integer() }, optinal: ["price"] })`,
    /'optinal'.*Did you mean.*'optional'/,
    /response: there is no option optinal; did you mean optional\?/,
  ),
  made(
    `openapiDocument({ titel: "A", version: "1" })`,
    /'titel'.*Did you mean.*'title'/,
    /openapiDocument: there is no option titel; did you mean title\?/,
  ),
  made(
    `factory(books, { sead: 7 })`,
    /'sead' does not exist in type 'FactoryOptions'/,
    /factory: there is no option sead; did you mean seed\?/,
  ),
  made(
    `testService({ fetures: [] })`,
    /'fetures'.*Did you mean.*'features'/,
    /there is no option fetures; did you mean features\?/,
  ),
  made(
    `testLatchkey({}, { enviroment: {} })`,
    /'enviroment'.*Did you mean.*'environment'/,
    /testLatchkey: there is no option enviroment; did you mean environment\?/,
  ),
  made(
    `problem("not_found", { detial: "It is gone." })`,
    /'detial'.*Did you mean.*'detail'/,
    /there is no option detial; did you mean detail\?/,
  ),
  made(
    `requestListener(never(), { clinet: () => never() })`,
    /'clinet'.*Did you mean.*'client'/,
    /requestListener: there is no option clinet; did you mean client\?/,
  ),
  ...(["migrateSQLite", "trySQLite"] as const).map((name) =>
    made(
      `${name}("shop.db", [], { programm: "1" })`,
      /'programm'.*Did you mean.*'program'/,
      new RegExp(`${name}: .*there is no option programm; did you mean program\\?`),
    ),
  ),
  ...(["migratePostgres", "tryPostgres"] as const).map((name) =>
    made(
      `${name}(new Secret("postgres://ann@127.0.0.1:1/shop"), [], { programm: "1" })`,
      /'programm'.*Did you mean.*'program'/,
      new RegExp(`${name}: .*there is no option programm; did you mean program\\?`),
    ),
  ),
  made(
    `createLatchkey({ setings: readSettings({}) })`,
    /'setings'.*Did you mean.*'settings'/,
    /createLatchkey has no option setings\. The nearest is settings\./,
  ),
  made(
    `callOf({ metod: "GET" })`,
    /'metod'.*Did you mean.*'method'/,
    /callOf: there is no option metod; did you mean method\?/,
  ),
];
