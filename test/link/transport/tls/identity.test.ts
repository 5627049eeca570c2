/** Tests of the identities of processes of a job: which URIs are identities, and which names of certificates. */
import { describe, expect, test } from "vitest";
import {
  formatIdentity,
  type Identity,
  identityInNames,
  identityInPem,
  parseIdentity,
} from "../../../../runtime/link/transport/tls/identity.js";

const identities: readonly (readonly [string, Identity])[] = [
  ["viceroy://job-1/driver", { job: "job-1", role: "driver" }],
  ["viceroy://job-1/viewer", { job: "job-1", role: "viewer" }],
  ["viceroy://3f9c.a_b/controller", { job: "3f9c.a_b", role: "controller" }],
  ["viceroy://j/hosts/trainers/0", { job: "j", role: "host", mesh: "trainers", rank: 0 }],
  ["viceroy://j/hosts/_a1/4294967295", { job: "j", role: "host", mesh: "_a1", rank: 4294967295 }],
];

test.each(identities)("%s is parsed and formatted", (uri, identity) => {
  expect(parseIdentity(uri)).toEqual(identity);
  expect(formatIdentity(identity)).toBe(uri);
  expect(identityInNames(`URI:${uri}`)).toEqual(identity);
});

describe.each([
  "",
  "viceroy://j",
  "viceroy:///driver",
  "viceroy://j/Driver",
  "viceroy://j/driver/",
  "viceroy://j/driver\n",
  " viceroy://j/driver",
  "https://j/driver",
  "viceroy://-j/driver",
  "viceroy://a/b/driver",
  "viceroy://j/hosts/m",
  "viceroy://j/hosts/m/01",
  "viceroy://j/hosts/m/-1",
  "viceroy://j/hosts/m/1.5",
  "viceroy://j/hosts/1m/0",
  "viceroy://j/hosts/m/0123456789abcdef",
  `viceroy://${"j".repeat(65)}/driver`,
])("%j", (uri) => {
  test("is refused with an error that says what an identity is", () => {
    expect(() => parseIdentity(uri)).toThrow(
      /^cannot read an identity: expected viceroy:\/\/<job>\/driver, viceroy:\/\/<job>\/viewer, viceroy:\/\/<job>\/controller or viceroy:\/\/<job>\/hosts\/<mesh>\/<rank>, where a job has letters, digits, dots, - and _, and a mesh has letters, digits and _, at most 64 of them, got "/,
    );
    expect(identityInNames(`URI:${uri}`)).toBeUndefined();
  });
});

test("an identity with parts that cannot be in a URI is not formatted", () => {
  for (const identity of [
    { job: "a/driver?", role: "driver" },
    { job: "j", role: "host", mesh: "m", rank: 1.5 },
    { job: "j", role: "host", mesh: "../m", rank: 1 },
  ] as const) {
    expect(() => formatIdentity(identity)).toThrow(TypeError);
  }
});

test("a certificate with other names has no identity", () => {
  for (const names of [
    undefined,
    "",
    "DNS:localhost",
    "DNS:viceroy://j/driver",
    "URI:viceroy://j/driver, DNS:localhost",
    "DNS:localhost, URI:viceroy://j/driver",
    "URI:viceroy://j/driver, URI:viceroy://j/controller",
    'URI:"viceroy://j/driver"',
  ]) {
    expect(identityInNames(names)).toBeUndefined();
  }
  expect(identityInPem(Buffer.from("no certificate"))).toBeUndefined();
});
