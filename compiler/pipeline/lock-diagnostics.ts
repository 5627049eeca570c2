/** Creates diagnostics from the problems of a lock. */
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { LockProblem } from "../lock/index.js";

export function lockDiagnostic(problem: LockProblem): Diagnostic {
  const { at } = problem;
  switch (problem.kind) {
    case "lockVersion":
      return diagnostic("VC2001", at, { expected: problem.expected, found: problem.found });
    case "lockConflict":
      return diagnostic("VC2012", at, {});
    case "lockSyntax":
      return diagnostic("VC2002", at, { why: problem.why });
    case "lockDuplicate":
      return diagnostic("VC2003", at, { what: problem.what, other: problem.other });
    case "lockIdTwice":
      return diagnostic("VC2004", at, { id: problem.id, first: problem.first, second: problem.second });
    case "lockNext": {
      const { of, next, highest } = problem;
      return diagnostic("VC2005", at, { of, next, highest, after: highest + 1 });
    }
    case "idChanged":
      return diagnostic("VC2008", at, { member: problem.member, locked: problem.locked, asked: problem.asked });
    case "idTaken": {
      const { member, id, holder, retired } = problem;
      return diagnostic("VC2009", at, { member, id, holder, holding: retired ? "belonged to" : "belongs to" });
    }
    case "idRange":
      return diagnostic("VC2010", at, { member: problem.member, id: problem.id });
    case "wasUnknown":
      return diagnostic("VC2011", at, { member: problem.member, was: problem.was, why: "the lock has no such name" });
    case "wasTaken": {
      const { member, was, holder } = problem;
      return diagnostic("VC2011", at, { member, was, why: `${holder} had this name, too, and keeps the id` });
    }
    case "ambiguousRename": {
      const { declaration, isInPlace, removed, added } = problem;
      // The command accepts declarations only, not inline shapes.
      const command = !isInPlace ? `, or run \`npx viceroy rename ${declaration}.${removed} ${added}\`` : "";
      return diagnostic("VC2007", at, { declaration, removed, added, command });
    }
  }
}
