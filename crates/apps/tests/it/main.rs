//! Laws of the resolver, of writes and of secrets, checked on many worlds made at random or by hand.

#[cfg(test)]
mod credentials;
#[cfg(test)]
mod cue;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod world;
