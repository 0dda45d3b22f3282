// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// From time series to spectra: pure functions of what a run has recorded, atomic units throughout.
///
/// After a kick that gives every electron the momentum kappa, the field has been E(t) = -kappa delta(t) (the electron's
/// charge is -1), so that with f(omega) = integral from 0 to T of f(t) w(t) exp(i omega t) dt
///   polarisability        alpha(omega)   = (d - d(0))(omega) / kappa          d: integral of n r, as Record::dipole
///   cross-section         sigma(omega)   = 4 pi omega / c Im alpha
///   strength function     S(omega)       = 2 omega / pi Im alpha,   integral of S = electrons   (f-sum rule)
///   dielectric function   epsilon(omega) = 1 + 4 pi i J(omega) / (kappa omega)   J: particle current, as
///   Record::current
/// (transverse response: the kick is the field in the cell). The current of an insulator swings about zero: grid and
/// k-points that are not infinitely fine leave a constant in it, the drift, which the factor 1 / omega turns into a
/// large epsilon at low energies. It is subtracted where SpectrumOptions say so; a metal's drift is its Drude response.
/// The window w ends the series softly: without one, every line has the side lobes of a run that stops at T. No window
/// resolves lines that are closer than 2 pi / T.

#include <complex>
#include <span>
#include <string_view>
#include <vector>

namespace halocline::tddft {

enum class Window {
  none,         ///< 1
  exponential,  ///< exp(-width t / 2): Lorentzian lines of this full width at half maximum
  gaussian,     ///< exp(-(width t)^2 / (16 ln 2)): Gaussian lines of this full width at half maximum
  polynomial,   ///< 1 - 3 (t/T)^2 + 2 (t/T)^3: zero with zero slope at T (Yabana et al., phys. stat. sol. b 243, 1121)
};

/// "none", "exponential" (or "lorentzian"), "gaussian", "polynomial".
/// @throws InvalidArgument  another name; lists these
Window window_from(std::string_view name);

struct SpectrumOptions {
  Window window = Window::polynomial;
  double width = 0;             ///< [hartree]; for exponential and gaussian, where it must be positive
  bool subtract_drift = false;  ///< dielectric() takes the current without its drift()
};

/// 2 pi / T [hartree]: lines closer than this are one. Warn where it is wider than what was asked for.
/// @param times  as everywhere here: growing in equal steps from 0, at least 4 of them. @throws InvalidArgument
double resolution(std::span<const double> times);

/// The window at time t of a series of length T.
double window_value(const SpectrumOptions& options, double t, double length);

/// f(omega) as above, by the trapezoidal rule. @param energies  [hartree]
/// @throws InvalidArgument  series of different lengths, times as in resolution(), a width that is needed and missing,
///                          energies beyond pi / step, which the series cannot tell from lower ones
/// Cost: times x energies complex products.
std::vector<std::complex<double>> transform(std::span<const double> times, std::span<const double> values,
                                            std::span<const double> energies, const SpectrumOptions& options);

/// alpha(omega) along the axis of which the dipole is given, [bohr^3].
/// @param kick  along the same axis for a diagonal element [1/bohr]; not zero
std::vector<std::complex<double>> polarisability(std::span<const double> times, std::span<const double> dipole,
                                                 double kick, std::span<const double> energies,
                                                 const SpectrumOptions& options = {});

/// The mean of the three diagonal elements, or of however many are given. @throws InvalidArgument  none, or of
/// different lengths
std::vector<std::complex<double>> mean_of(std::span<const std::vector<std::complex<double>>> elements);

/// sigma(omega) [bohr^2].
std::vector<double> cross_section(std::span<const double> energies, std::span<const std::complex<double>> alpha);

/// S(omega) [1/hartree].
std::vector<double> strength(std::span<const double> energies, std::span<const std::complex<double>> alpha);

/// Integral of S by the trapezoidal rule: the electrons that the energies have reached.
double sum_rule(std::span<const double> energies, std::span<const double> strengths);

/// epsilon(omega) along the axis of which the current is given. @param kick  as for polarisability: A after t = 0
/// @param energies  positive: a metal has a pole at zero
std::vector<std::complex<double>> dielectric(std::span<const double> times, std::span<const double> current,
                                             double kick, std::span<const double> energies,
                                             const SpectrumOptions& options = {});

/// The constant part of a current: its mean, weighted by the polynomial window, whatever the window of the spectrum.
/// The mean of an oscillation falls with the third power of its periods then; by a plain mean it would fall with the
/// first, and epsilon(0) multiplies what is left by T^2.
double drift(std::span<const double> times, std::span<const double> current);

/// epsilon(0) that belongs to the absorption Im epsilon at positive energies by the Kramers-Kronig relation, the pole
/// that a drift makes at zero left out:  1 + 2 / pi integral of Im epsilon / omega
/// = 1 - 4 pi / kappa integral of t (J - mean) w(t) dt  with w = cos(pi t / 2 T)^4, which ends so softly that lines
/// leave an error of order (omega T)^-2; by the polynomial window it would be 6 / (omega T). @param kick  as for
/// dielectric()
double static_dielectric(std::span<const double> times, std::span<const double> current, double kick);

struct Peak {
  double energy = 0;  ///< [hartree], of the parabola through the three highest points
  double height = 0;
};

/// Maxima of at least `fraction` of the highest, by energy.
std::vector<Peak> peaks(std::span<const double> energies, std::span<const double> values, double fraction = 0.01);

}  // namespace halocline::tddft
