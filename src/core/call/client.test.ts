import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { callOf } from "../../testing/calls.ts";
import { makeClientReader } from "./client.ts";
import { formatBlock, formatNetwork, formatSite, parseTrustedProxies } from "./trusted-proxies.ts";

const direct = [
  { peer: "127.0.0.1", address: "127.0.0.1", loopback: true },
  { peer: "127.8.9.10", address: "127.8.9.10", loopback: true },
  { peer: "::1", address: "::1", loopback: true },
  { peer: "::ffff:127.0.0.1", address: "127.0.0.1", loopback: true },
  { peer: "unix", address: "unix", loopback: true },
  { peer: "::ffff:192.0.2.7", address: "192.0.2.7", loopback: false },
  { peer: "fe80::1%eth0", address: "fe80::1", loopback: false },
  { peer: "192.0.2.7", address: "192.0.2.7", loopback: false },
];

for (const { peer, address, loopback } of direct) {
  test(`reads the peer ${peer} as the client ${address} without trusted proxies, and ignores forwarding headers`, () => {
    const { client } = callOf({
      peer,
      headers: {
        host: "API.example:80",
        "x-forwarded-for": "10.0.0.1",
        "x-forwarded-proto": "https",
        "x-forwarded-host": "evil.example",
      },
    });

    assert.equal(client.address, address);
    assert.equal(client.loopback, loopback);
    assert.equal(client.encrypted, false);
    assert.equal(client.viaTrustedProxy, false);
    assert.equal(client.origin, "http://api.example");
  });
}

const trustedProxies = ["10.0.0.0/8", "127.0.0.1", "2001:db8::/32", "unix"];

const proxied: { what: string; peer: string; forwarded: string | null; address: string; loopback: boolean }[] = [
  {
    what: "the last entry that is not a trusted proxy",
    peer: "10.0.0.1",
    forwarded: "1.1.1.1, 192.0.2.7, 10.0.0.9",
    address: "192.0.2.7",
    loopback: false,
  },
  {
    what: "an entry with a port",
    peer: "10.0.0.1",
    forwarded: "192.0.2.7:4711",
    address: "192.0.2.7",
    loopback: false,
  },
  {
    what: "an IPv6 entry in brackets",
    peer: "10.0.0.1",
    forwarded: "[2001:DB9::1]:443",
    address: "2001:db9::1",
    loopback: false,
  },
  {
    what: "an IPv4-mapped entry",
    peer: "::ffff:10.0.0.1",
    forwarded: "::ffff:192.0.2.7",
    address: "192.0.2.7",
    loopback: false,
  },
  {
    what: "the entry to the right of an invalid entry",
    peer: "10.0.0.1",
    forwarded: "192.0.2.7, garbage, 10.0.0.9",
    address: "10.0.0.9",
    loopback: false,
  },
  {
    what: "the proxy if the entry is invalid, but not as loopback",
    peer: "127.0.0.1",
    forwarded: "unknown",
    address: "127.0.0.1",
    loopback: false,
  },
  {
    what: "the proxy if nothing was forwarded",
    peer: "10.0.0.1",
    forwarded: null,
    address: "10.0.0.1",
    loopback: false,
  },
  {
    what: "this machine if a local proxy reports it",
    peer: "unix",
    forwarded: "127.0.0.1",
    address: "127.0.0.1",
    loopback: true,
  },
  {
    what: "another machine behind a local proxy",
    peer: "127.0.0.1",
    forwarded: "192.0.2.7",
    address: "192.0.2.7",
    loopback: false,
  },
  {
    what: "the entry, but not as loopback if the proxy is on another machine",
    peer: "10.0.0.1",
    forwarded: "127.0.0.1",
    address: "127.0.0.1",
    loopback: false,
  },
  {
    what: "the proxy if the entry is an octal or shortened address",
    peer: "10.0.0.1",
    forwarded: "0177.1",
    address: "10.0.0.1",
    loopback: false,
  },
  {
    what: "the peer itself if it is not a trusted proxy",
    peer: "192.0.2.1",
    forwarded: "127.0.0.1",
    address: "192.0.2.1",
    loopback: false,
  },
];

for (const { what, peer, forwarded, address, loopback } of proxied) {
  test(`reads the client behind trusted proxies from ${what}`, () => {
    const { client } = callOf({
      peer,
      trustedProxies,
      headers: forwarded === null ? {} : { "X-Forwarded-For": forwarded },
    });

    assert.deepEqual([client.address, client.loopback], [address, loopback]);
  });
}

test("joins several X-Forwarded-For fields into one list", () => {
  const headers = [
    ["X-Forwarded-For", "192.0.2.7"],
    ["x-forwarded-for", "10.0.0.9"],
  ] as const;

  assert.equal(callOf({ peer: "10.0.0.1", trustedProxies, headers }).client.address, "192.0.2.7");
});

test("uses the transport and the host that the nearest trusted proxy reports", () => {
  const { client } = callOf({
    peer: "10.0.0.1",
    trustedProxies,
    headers: {
      host: "inner:8000",
      "x-forwarded-proto": "http, HTTPS",
      "x-forwarded-host": "evil.example, api.example:443",
    },
  });

  assert.equal(client.encrypted, true);
  assert.equal(client.viaTrustedProxy, true);
  assert.equal(client.origin, "https://api.example");
});

test("uses http if a trusted proxy reports it over TLS, and ignores an unknown protocol", () => {
  const over = (proto: string) =>
    callOf({ peer: "10.0.0.1", encrypted: true, trustedProxies, headers: { "x-forwarded-proto": proto } });

  assert.equal(over("http").client.encrypted, false);
  assert.equal(over("gopher").client.encrypted, true);
});

test("does not treat the caller as local if a local proxy reports only the transport", () => {
  const call = callOf({ trustedProxies, headers: { "x-forwarded-proto": "http" } });

  assert.equal(call.client.loopback, false);
});

test("returns no origin for an invalid host", () => {
  for (const host of ["", "a b", "user@host", "host/path", "host:port", "a".repeat(300), "[::1", "<script>"]) {
    assert.equal(callOf({ headers: { host } }).client.origin, null, host);
  }
  assert.equal(callOf({ headers: { host: "[::1]:8000" } }).client.origin, "http://[::1]:8000");
  assert.equal(callOf().client.origin, null);
});

test("finds a valid client address for any forwarded values", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (forwarded, proto, host) => {
      const headers = { "x-forwarded-for": forwarded, "x-forwarded-proto": proto, "x-forwarded-host": host };
      const { client } = callOf({ peer: "10.0.0.1", trustedProxies, headers });

      assert.match(client.address, /^[0-9a-f.:]+$/);
      assert.match(client.origin ?? "http://none", /^https?:\/\/[a-z0-9._:[\]-]+$/);
    }),
  );
});

test("names every unusable entry of the setting", () => {
  const { proxies, problems } = parseTrustedProxies(" 10.0.0.0/8, nginx,::1 ,10.0.0.0/33,0.0.0.0/0,unix,1.2.3,");

  assert.deepEqual(proxies, ["10.0.0.0/8", "nginx", "::1", "10.0.0.0/33", "0.0.0.0/0", "unix", "1.2.3"]);
  assert.deepEqual(
    problems.map((each) => each.split(" ")[0]),
    ['"nginx"', '"10.0.0.0/33"', '"0.0.0.0/0"', '"1.2.3"'],
  );
  assert.throws(() => makeClientReader(["nginx"]), /neither an IP address/);
});

test("reads an IPv4-mapped range as the IPv4 range", () => {
  const mapped = { trustedProxies: ["::ffff:10.0.0.0/104"], headers: { "x-forwarded-for": "192.0.2.7" } };

  assert.equal(callOf({ peer: "10.9.9.9", ...mapped }).client.address, "192.0.2.7");
  assert.equal(callOf({ peer: "11.9.9.9", ...mapped }).client.address, "11.9.9.9");
});

test("treats the networks of one /48 as one site, and an IPv4 address as one site", () => {
  assert.equal(formatSite("2001:db8:1:2::1"), formatSite("2001:DB8:1:ffff:aaaa::2"));
  assert.notEqual(formatSite("2001:db8:1::1"), formatSite("2001:db8:2::1"));
  assert.equal(formatSite("::ffff:192.0.2.7"), "192.0.2.7");
  assert.notEqual(formatSite("192.0.2.7"), formatSite("192.0.2.8"));
  assert.equal(formatSite("unix"), "unix");
});

test("treats the addresses of one /24 or one /64 as one block", () => {
  assert.equal(formatBlock("192.0.2.7"), "192.0.2.0/24");
  assert.equal(formatBlock("::ffff:192.0.2.9"), "192.0.2.0/24");
  assert.notEqual(formatBlock("192.0.2.7"), formatBlock("192.0.3.7"));
  assert.equal(formatBlock("2001:db8:1:2:aaaa::1"), formatBlock("2001:db8:1:2::ffff"));
  assert.notEqual(formatBlock("2001:db8:1:2::1"), formatBlock("2001:db8:1:3::1"));
  assert.equal(formatBlock("unix"), "unix");
});

test("treats the addresses of one /64 as one network", () => {
  assert.equal(formatNetwork("2001:db8:1:2:aaaa::1"), formatNetwork("2001:db8:1:2::ffff"));
  assert.notEqual(formatNetwork("2001:db8:1:2::1"), formatNetwork("2001:db8:1:3::1"));
  assert.equal(formatNetwork("192.0.2.7"), "192.0.2.7");
  assert.equal(formatNetwork("unix"), "unix");
});
