/** Tests of the text of the locations of procs that do not listen. */
import { expect, test } from "vitest";
import { formatRelayedLocation, parseRelayedLocation } from "../../runtime/link/relayed-location.js";

test("relayed locations name the relaying proc and its location, which may be a relayed one, or empty", () => {
  const listening = "host:00000000000000aa@tcp://n1:26600/00000000000000bb";
  const thread = formatRelayedLocation({ via: 0xccn, location: listening });
  expect(thread).toBe(`relayed:00000000000000cc@${listening}`);
  const inline = formatRelayedLocation({ via: 0xddn, location: thread });
  expect(parseRelayedLocation(inline)).toEqual({ via: 0xddn, location: thread });
  expect(parseRelayedLocation(thread)).toEqual({ via: 0xccn, location: listening });
  expect(parseRelayedLocation(formatRelayedLocation({ via: 1n, location: "" }))).toEqual({ via: 1n, location: "" });
});

test.each(["", "unix:/run/relayed:00000000000000cc@x", "relayed:cc@unix:/a", "host:00000000000000aa@tcp://n1:26600"])(
  "%j is the location of no relayed proc",
  (location) => {
    expect(parseRelayedLocation(location)).toBe(undefined);
  },
);
