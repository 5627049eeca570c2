/** Two procs that dial each other at the same time have two links. They still communicate after one link has ended. */
import { expect, test } from "vitest";
import { settled } from "../../link/fake-host.js";
import { Recorder, type Step } from "../recorder.js";
import { World } from "../world.js";

const step: Step = { adverb: 0, part: 0, wait: true };

test.each([0, 1])(
  "if link %i of two is cut, no proc reports its peer as dead, and messages use the other link",
  async (cut) => {
    const world = new World();
    try {
      const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => world.proc(name));
      const left = world.spawn("left", Recorder, [], [a!, c!, d!]);
      const right = world.spawn("right", Recorder, [], [b!, c!, d!]);
      await Promise.all([left.seen.call(), right.seen.call()]);
      const first = { gpus: 0 };
      const both = () =>
        Promise.all([left.slice(first).play.callOne(right, [step]), right.slice(first).play.callOne(left, [step])]);
      await both();
      const between = world.pipesBetween("a", "b");
      expect(between.length).toBe(2);

      between[cut]!.destroy(new Error("cut"));
      await settled();
      await both();
      expect([a!.events, b!.events].flat().filter(({ kind }) => kind === "peerDown")).toEqual([]);
      expect(world.pipesBetween("a", "b").length).toBe(2);
      for (const [mesh, sender] of [[left, "right[0]"] as const, [right, "left[0]"] as const]) {
        for (const seen of (await mesh.seen.call()).values()) expect([...seen]).toEqual([[sender, [0, 0]]]);
      }
    } finally {
      world.close();
    }
  },
);
