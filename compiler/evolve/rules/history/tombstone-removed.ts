/** Reports lines that disappeared from the lock. Their ids could be assigned again unnoticed. */
import type { BreakRule } from "../../break-rule.js";
import { blockPairs, entryPairs, positionIn } from "../../lock-pairs.js";

export const tombstoneRemoved: BreakRule = {
  code: "VC5019",
  name: "tombstone-removed",
  class: "WIRE",
  find({ states: { older, newer } }) {
    const blocks = blockPairs(older.lock, newer.lock).flatMap((pair) => (pair.newer === undefined ? [pair.older] : []));
    const entries = entryPairs(older.lock, newer.lock).filter((pair) => pair.newer === undefined);
    return [
      ...blocks.map(({ kind, name, line }) => ({
        place: name,
        at: positionIn(older.lockFile, line),
        side: "older" as const,
        text: `the lock has forgotten ${kind} ${name} and all ids of it`,
        fix: restore,
      })),
      ...entries.map(({ block, older: { id, name, line } }) => ({
        place: `${block.name}.${name}`,
        at: positionIn(older.lockFile, line),
        side: "older" as const,
        text: `the lock has forgotten that id ${id} of ${block.name} belongs to ${name}: it may be given again`,
        fix: restore,
      })),
    ];
  },
};

const restore = "Restore the line from version control; `npx viceroy compile` marks what has gone with a dash.";
