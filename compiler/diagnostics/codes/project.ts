/** Diagnostics of the lock, generated files and the configuration. */
import type { DiagnosticTableEntry } from "./entry.js";

export const project = {
  VC2001: {
    slug: "lock-version",
    severity: "error",
    text: 'cannot read the lock: expected "{expected}", got "{found}"',
    fix: "Use the version of Viceroy that wrote the file, or restore the file from version control.",
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
    text: "{what} is in the lock twice: see line {other}",
    fix: "Keep the older block, and move the ids of the other one that are in use to it.",
  },
  VC2004: {
    slug: "lock-id-twice",
    severity: "error",
    text: "id {id} belongs to both {first} and {second}",
    fix: "Two branches have assigned it at the same time. Give the newer member the number after `next`, and increase `next`.",
  },
  VC2005: {
    slug: "lock-next",
    severity: "error",
    text: "next={next} of {of} would assign an id twice: {highest} is taken",
    fix: "Write next={after}.",
  },
  VC2006: {
    slug: "lock-missing",
    severity: "error",
    text: "{lock} is missing, but generated code exists: all ids would be assigned again",
    fix: "Restore it from version control. For a fresh start, remove the folder {out}, too.",
  },
  VC2007: {
    slug: "ambiguous-rename",
    severity: "warning",
    text: "{declaration}.{removed} was removed and {declaration}.{added}, of the same type, was added: is it a rename?",
    fix: "If it is, write `@was {removed}` above {added}{command}. If {added} is new, `npx viceroy compile` assigns it a new id.",
  },
  VC2008: {
    slug: "id-changed",
    severity: "error",
    text: "@id {asked}: {member} already has id {locked}, and ids never change",
    fix: "Remove the tag, or write `@id {locked}`.",
  },
  VC2009: {
    slug: "id-taken",
    severity: "error",
    text: "@id {id} of {member}: the id {holding} {holder}",
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
    fix: "Write its former name as in the lock, or remove the tag.",
  },
  VC2012: {
    slug: "lock-conflict",
    severity: "error",
    text: "two branches have changed the lock, and git could not merge it",
    fix: "Run `npx viceroy lock merge`. After `npx viceroy lock install`, git runs it in every merge.",
  },
  VC2013: {
    slug: "lock-id-lost",
    severity: "error",
    text: "{what} has vanished from the lock since {ref}: it could be assigned again, and old data would be misread",
    fix: "Restore, {where}: {lines}",
  },
  VC2014: {
    slug: "lock-id-reused",
    severity: "error",
    text: "id {id} belonged to {before} at {ref} and belongs to {now} now: old data would be misread",
    fix: "Restore `{line}`. `npx viceroy compile` then assigns a new id to the other member. If `npx viceroy lock merge` has changed the id because a published branch uses it, keep the change: {ref} is older than that branch.",
  },
  VC2015: {
    slug: "replaced-since",
    severity: "warning",
    text: "since {ref}, {of}.{removed} was removed and {of}.{added}, of the same type, was added with a new id",
    fix: "If {added} is new, no change is needed. If it is a rename, restore {file} from {ref}, write `@was {removed}` above {added}, and run `npx viceroy compile`.",
  },
  VC3001: {
    slug: "generated-differs",
    severity: "error",
    text: "{file} is not up to date with the schemas",
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
    text: "{file} is obsolete: its schema was removed",
    fix: "Run `npx viceroy compile`, which removes it, and commit the result.",
  },
  VC3004: {
    slug: "lock-differs",
    severity: "error",
    text: "{file} is not up to date with the schemas: ids or types differ",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3005: {
    slug: "foreign-file",
    severity: "error",
    text: "cannot write {file}: a file that Viceroy did not generate is there",
    fix: "Move it away, or choose another `out` in the config.",
  },
  VC4001: { slug: "config", severity: "error", text: "{message}" },
  VC4002: {
    slug: "unusable-package",
    severity: "error",
    text: "cannot use the package {name}: {why}",
    fix: "{hint}",
  },
  VC4003: {
    slug: "same-actor-id",
    severity: "error",
    text: "{first} and {second} have the same id {id}",
    fix: "One of the packages has a copy of the other's lock. Remove the block of the actor from the lock of the package that is not in use yet, and run `npx viceroy compile` there.",
  },
  VC4005: {
    slug: "unreadable-contract",
    severity: "error",
    text: "cannot use the schemas of another package: {why}",
    fix: "{hint}",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
