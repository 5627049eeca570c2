/** Tests of the URLs of driver gateways. */
import { expect, test } from "vitest";
import { isWebSocketUrl, parseWebSocketUrl } from "../../../../runtime/link/transport/websocket/url.js";

test.each([
  ["wss://gateway.example.com/viceroy", "wss://gateway.example.com/viceroy", "gateway.example.com", 443, undefined],
  ["ws://n1", "ws://n1", "n1", 80, undefined],
  ["ws://[fd00::1]:8080/", "ws://[fd00::1]:8080", "fd00::1", 8080, undefined],
  ["wss://me:secret@h/p?key=secret#viceroy://job/hosts/mesh/0", "wss://h/p", "h", 443, "viceroy://job/hosts/mesh/0"],
])("%s is shown without secrets", (text, name, host, port, identity) => {
  const { url, ...parts } = parseWebSocketUrl(text);
  expect(parts).toEqual({ name, host, port, identity });
  expect(url.href.replace(/\/$/, "")).toBe(text.replace(/#.*/, "").replace(/\/$/, ""));
});

test.each([
  ["wss://", 'cannot read the URL "wss://": expected wss://host/path or ws://host:port/path'],
  ["ws://me:secret@host:port/path?key=secret", 'cannot read the URL "ws://…@host:port/path": expected wss://host/path'],
  ["wss://h#viceroy://job", "cannot read an identity: expected viceroy://<job>/driver"],
])("%s is refused", (text, why) => {
  expect(isWebSocketUrl(text)).toBe(true);
  expect(() => parseWebSocketUrl(text)).toThrow(why);
});

test.each(["http://h", "tcp://h", "wsx://h", 7])("%s is no URL of a WebSocket", (text) => {
  expect(isWebSocketUrl(text)).toBe(false);
});
