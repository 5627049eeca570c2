import { hostname } from "node:os";
import { context } from "viceroy";
import { SearcherActor } from "../generated/searcher.js";

export class PrimeSearcher extends SearcherActor {
  count(limit: number, parts: number) {
    let primes = 0;
    for (let first = context().rank.rank * 1000; first < limit; first += parts * 1000) {
      for (let number = first; number < Math.min(first + 1000, limit); number++) if (isPrime(number)) primes++;
    }
    return { machine: hostname(), primes };
  }
}

function isPrime(number: number): boolean {
  if (number < 2) return false;
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}
