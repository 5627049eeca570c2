/** Tests of the locations of processes on hosts, with and without the identity of the host in a job. */
import { expect, test } from "vitest";
import {
  childLocation,
  formatHostedLocation,
  type HostedLocation,
  parentLocation,
  parseHostedLocation,
} from "../../../runtime/proc/remote/hosted-location.js";

const agent = 0x0123_4567_89ab_cdefn;
const host = { kind: "tls", host: "10.0.0.7", port: 26_600 } as const;

test.each<readonly [string, HostedLocation]>([
  ["host:0123456789abcdef@tls://10.0.0.7:26600", { agent, address: host, ancestors: [] }],
  ["host:0123456789abcdef@tls://10.0.0.7:26600/00000000000000ff", { agent, address: host, ancestors: [255n] }],
  [
    "host:0123456789abcdef@tls://10.0.0.7:26600#viceroy://job-1/hosts/trainers/0",
    { agent, address: { ...host, identity: "viceroy://job-1/hosts/trainers/0" }, ancestors: [] },
  ],
  [
    "host:0123456789abcdef@tls://10.0.0.7:26600#viceroy://job-1/hosts/a123456789abcdef/1234567890/00000000000000ff/0000000000000100",
    {
      agent,
      address: { ...host, identity: "viceroy://job-1/hosts/a123456789abcdef/1234567890" },
      ancestors: [255n, 256n],
    },
  ],
])("%s is parsed and formatted", (text, location) => {
  expect(parseHostedLocation(text)).toEqual(location);
  expect(formatHostedLocation(location)).toBe(text);
  expect(parentLocation(parseHostedLocation(childLocation(text, 7n))!)).toBe(text);
});

test("other locations are not on a host", () => {
  for (const text of ["", "/run/viceroy/1", "host:12@tls://n1", "tls://n1:1"]) {
    expect(parseHostedLocation(text)).toBeUndefined();
  }
});
