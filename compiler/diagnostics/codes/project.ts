/** Diagnostics of the lock, generated files and the configuration. */
import type { DiagnosticTableEntry } from "./entry.js";

export const project = {
  VC2001: {
    slug: "lock-version",
    severity: "error",
    text: 'cannot read the lock: expected "{expected}", got "{found}"',
    fix: "Use the version of Viceroy that wrote it, or restore the file from version control.",
  },
  VC2002: {
    slug: "lock-syntax",
    severity: "error",
    text: "cannot read the lock: {why}",
    fix: "The compiler writes this file. Restore the line from version control.",
  },
  VC2003: {
    slug: "lock-block-twice",
    severity: "error",
    text: "{what} stands in the lock twice: see line {other}",
    fix: "Keep the block that was there first; ids of the other one that are in use move to it.",
  },
  VC2004: {
    slug: "lock-id-twice",
    severity: "error",
    text: "id {id} belongs to both {first} and {second}",
    fix: "Two branches gave it at the same time: give the newer one the number after `next`, and raise `next`.",
  },
  VC2005: {
    slug: "lock-next",
    severity: "error",
    text: "next={next} of {of} would give an id again: {highest} is taken",
    fix: "Write next={after}.",
  },
  VC2006: {
    slug: "lock-missing",
    severity: "error",
    text: "{lock} is missing beside generated code: all ids would be given anew",
    fix: "Restore it from version control. If this is meant as a fresh start, remove the folder {out} too.",
  },
  VC2007: {
    slug: "ambiguous-rename",
    severity: "warning",
    text: "{declaration}.{removed} has gone and {declaration}.{added}, of the same type, has come: is it the same field?",
    fix: "If it is, write `@was {removed}` above {added}{command}. If it is new, `npx viceroy compile` gives it an id of its own.",
  },
  VC2008: {
    slug: "id-changed",
    severity: "error",
    text: "@id {asked}: {member} has id {locked} already, and ids never change",
    fix: "Remove the tag, or write `@id {locked}`.",
  },
  VC2009: {
    slug: "id-taken",
    severity: "error",
    text: "@id {id} of {member}: it {holding} {holder}",
    fix: "Remove the tag, or choose another number.",
  },
  VC2010: {
    slug: "id-range",
    severity: "error",
    text: "@id {id} of {member}: ids are whole numbers from 1 to 536870911, except 19000 to 19999",
    fix: "Remove the tag, or choose another number.",
  },
  VC2011: {
    slug: "was-unknown",
    severity: "error",
    text: "@was {was} of {member}: {why}",
    fix: "Write its old name as it stands in the lock, or remove the tag.",
  },
  VC2012: {
    slug: "lock-conflict",
    severity: "error",
    text: "two branches have changed the lock, and git could not merge it",
    fix: "Run `npx viceroy lock merge`, which can. `npx viceroy lock install` makes git do so by itself.",
  },
  VC2013: {
    slug: "lock-id-lost",
    severity: "error",
    text: "{what} has vanished from the lock since {ref}: it could be given again, and old bytes be misread",
    fix: "Write back, {where}: {lines}",
  },
  VC2014: {
    slug: "lock-id-reused",
    severity: "error",
    text: "id {id} was that of {before} at {ref}, and is that of {now} now: old bytes would be misread",
    fix: "Write `{line}` back in its place; `npx viceroy compile` gives the other one an id of its own. If it was moved by `npx viceroy lock merge`, since a published branch has its id, leave it: {ref} is older than that.",
  },
  VC2015: {
    slug: "replaced-since",
    severity: "warning",
    text: "since {ref}, {of}.{removed} has gone and {of}.{added}, of the same type, has come under an id of its own",
    fix: "If it is new, all is well. If it is the same, restore {file} from {ref}, write `@was {removed}` above {added}, and run `npx viceroy compile`.",
  },
  VC3001: {
    slug: "generated-differs",
    severity: "error",
    text: "{file} is not what the schemas say",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3002: {
    slug: "generated-missing",
    severity: "error",
    text: "{file} is missing",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3003: {
    slug: "generated-stale",
    severity: "error",
    text: "{file} is left over: its schema has gone",
    fix: "Run `npx viceroy compile`, which removes it, and commit the result.",
  },
  VC3004: {
    slug: "lock-differs",
    severity: "error",
    text: "{file} is out of step with the schemas: ids or types differ",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3005: {
    slug: "foreign-file",
    severity: "error",
    text: "cannot write {file}: a file that Viceroy did not generate is there",
    fix: "Move it away, or choose another `out` in the config.",
  },
  VC4001: { slug: "config", severity: "error", text: "{message}" },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
