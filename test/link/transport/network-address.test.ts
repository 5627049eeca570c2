/** Tests of the addresses that users write: parsing, formatting, and the errors for invalid texts. */
import { describe, expect, test } from "vitest";
import {
  formatNetworkAddress,
  isLocalAddress,
  parseNetworkAddress,
} from "../../../runtime/link/transport/network-address.js";

describe("a valid network address", () => {
  test.each([
    ["tcp://127.0.0.1:80", { kind: "tcp", host: "127.0.0.1", port: 80 }, true],
    ["tcp://127.0.0.255:0", { kind: "tcp", host: "127.0.0.255", port: 0 }, true],
    ["tcp://127.100.200.3:80", { kind: "tcp", host: "127.100.200.3", port: 80 }, true],
    ["tcp://gpu-7.example.org", { kind: "tcp", host: "gpu-7.example.org", port: 26_600 }, false],
    ["tcp://host:65535/", { kind: "tcp", host: "host", port: 65_535 }, false],
    ["tls://[::1]:1", { kind: "tls", host: "::1", port: 1 }, true],
    ["tls://[2001:DB8::f00d:127.0.0.1]", { kind: "tls", host: "2001:DB8::f00d:127.0.0.1", port: 26_600 }, false],
    [
      "tls://10.0.0.7:1#viceroy://job-1/hosts/trainers/0",
      { kind: "tls", host: "10.0.0.7", port: 1, identity: "viceroy://job-1/hosts/trainers/0" },
      false,
    ],
    ["tls://0.0.0.0:0", { kind: "tls", host: "0.0.0.0", port: 0 }, false],
    ["tcp://localhost:5", { kind: "tcp", host: "localhost", port: 5 }, true],
    ["tcp://127.0.0.1.example.org:5", { kind: "tcp", host: "127.0.0.1.example.org", port: 5 }, false],
    ["tcp://x127.0.0.1:5", { kind: "tcp", host: "x127.0.0.1", port: 5 }, false],
    ["tcp://127.0.1:5", { kind: "tcp", host: "127.0.1", port: 5 }, false],
    ["tcp://127.0.0.x:5", { kind: "tcp", host: "127.0.0.x", port: 5 }, false],
    ["tcp://127x0x0x1:5", { kind: "tcp", host: "127x0x0x1", port: 5 }, false],
    ["unix:///run/a b.sock", { kind: "unix", path: "/run/a b.sock" }, true],
    ["unix:///x", { kind: "unix", path: "/x" }, true],
  ])("%s is parsed, formatted and classified as local or remote", (text, address, local) => {
    const parsed = parseNetworkAddress(text);
    expect(parsed).toEqual(address);
    expect(parseNetworkAddress(formatNetworkAddress(parsed))).toEqual(address);
    expect(isLocalAddress(parsed)).toBe(local);
  });

  test.each(["tcp://127.0.0.1:80", "tls://[::1]:1", "tls://n1:1#viceroy://j/controller", "unix:///run/a b.sock"])(
    "keeps its original text after parsing and formatting: %s",
    (text) => {
      expect(formatNetworkAddress(parseNetworkAddress(text))).toBe(text);
    },
  );
});

test("an address with something else than an identity behind # is refused", () => {
  expect(() => parseNetworkAddress("tls://n1:1#trainers/0")).toThrow(/^cannot read an identity: .* got "trainers\/0"$/);
});

describe("an invalid network address", () => {
  const unknown = "expected tcp://host:port, tls://host:port or unix:///path";
  const tcp = "expected tcp://host:port, an IPv6 address in brackets";
  const absolute = "the path must be absolute, as in unix:///run/viceroy.sock";
  test.each([
    ["", unknown],
    ["host:80", unknown],
    ["http://host:80", unknown],
    [" tcp://host:80", unknown],
    ["x-tcp://host:80", unknown],
    ["tcp:/host:80", unknown],
    ["tcp://host:80\n", unknown],
    ["TCP://host:80", unknown],
    ["tcp://", tcp],
    ["tcp:///", tcp],
    ["tls://::1:80", "expected tls://host:port, an IPv6 address in brackets"],
    ["tcp://[]:80", tcp],
    ["tcp://[host]:80", tcp],
    ["tcp://[::1]x:80", tcp],
    ["tcp://x[::1]:80", tcp],
    ["tcp://host name:80", tcp],
    ["tcp://user@host:80", tcp],
    ["tcp://host:", tcp],
    ["tcp://host:x", tcp],
    ["tcp://host:123456", tcp],
    ["tcp://host:80/path", tcp],
    ["tcp://host:80//", tcp],
    ["tcp://host?x", tcp],
    ["tcp://host#x", "only tls:// can check the identity of a peer"],
    ["tcp://host:65536", "the port must be at most 65535"],
    ["unix://run/a.sock", absolute],
    ["unix://", absolute],
    ["unix:///", absolute],
  ])("%j is refused with an error that gives the reason", (text, why) => {
    expect(() => parseNetworkAddress(text)).toThrow(new TypeError(`cannot read address "${text}": ${why}`));
  });
});
