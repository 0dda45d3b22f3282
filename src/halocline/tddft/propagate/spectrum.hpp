// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spectra from time series: pure functions of the recorded observables, atomic units throughout.
///
/// A kick that gives every electron the momentum kappa is the field E(t) = -kappa delta(t) (the electron's charge is
/// -1). With f(omega) = integral from 0 to T of f(t) w(t) exp(i omega t) dt,
///   polarisability        alpha(omega)   = (d - d(0))(omega) / kappa          d: integral of n r, Record::dipole
///   cross-section         sigma(omega)   = 4 pi omega / c Im alpha
///   strength function     S(omega)       = 2 omega / pi Im alpha,   integral of S = electrons   (f-sum rule)
///   rotatory strength     R(omega)       = 1 / (2 pi kappa) Re L(omega)          L: angular momentum along the kick
///   dielectric function   epsilon(omega) = 1 + 4 pi i J(omega) / (kappa omega)   J: particle current, Record::current
/// The dielectric function is the transverse response: the kick is the field in the cell.
///
/// The current of an insulator oscillates about zero. Grids and k-points of finite density leave a constant in it, the
/// drift, which the factor 1 / omega turns into a large epsilon at low energies. SpectrumOptions can subtract it; a
/// metal's drift is its Drude response. The window w ends the series smoothly: without a window, every line has side
/// lobes from the end of the run at T. No window resolves lines closer than 2 pi / T.

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
  bool subtract_drift = false;  ///< dielectric() subtracts the drift() of the current
};

/// 2 pi / T [hartree]: lines closer than this are not resolved. Callers should warn if it exceeds the requested width.
/// @param times  as in all functions here: increasing in equal steps from 0, at least 4. @throws InvalidArgument
double resolution(std::span<const double> times);

/// The window at time t of a series of length T.
double window_value(const SpectrumOptions& options, double t, double length);

/// f(omega) as above, by the trapezoidal rule. @param energies  [hartree]
/// @throws InvalidArgument  series of different lengths, times invalid for resolution(), a missing width that the
///                          window needs, energies beyond pi / step, which the series cannot distinguish from lower
///                          ones
/// Cost: times x energies complex products.
std::vector<std::complex<double>> transform(std::span<const double> times, std::span<const double> values,
                                            std::span<const double> energies, const SpectrumOptions& options);

/// alpha(omega) along the axis of the given dipole, [bohr^3].
/// @param kick  along the same axis for a diagonal element [1/bohr]; not zero
std::vector<std::complex<double>> polarisability(std::span<const double> times, std::span<const double> dipole,
                                                 double kick, std::span<const double> energies,
                                                 const SpectrumOptions& options = {});

/// The mean of the given elements, e.g. the three diagonal ones. @throws InvalidArgument  no elements, or elements of
/// different lengths
std::vector<std::complex<double>> mean_of(std::span<const std::vector<std::complex<double>>> elements);

/// sigma(omega) [bohr^2].
std::vector<double> cross_section(std::span<const double> energies, std::span<const std::complex<double>> alpha);

/// S(omega) [1/hartree].
std::vector<double> strength(std::span<const double> energies, std::span<const std::complex<double>> alpha);

/// Integral of S by the trapezoidal rule: the number of electrons that the energy range accounts for.
double sum_rule(std::span<const double> energies, std::span<const double> strengths);

/// The part of one kick in the rotatory strength [(e bohr)^2 hbar / (m_e hartree)]: the sum over kicks along three axes
/// is
///   R(omega) = sum_n Im <0|-r|n> <n|-L/2|0> delta(omega - omega_n).
/// A kick along a gives L_a(t) = 4 kappa sum_n R_n,a cos(omega_n t), where R_n is the sum of R_n,a over the axes
/// (Yabana and Bertsch, Phys. Rev. A 60, 1271, 1999; Varsano et al., Phys. Chem. Chem. Phys. 11, 4481, 2009).
/// @param turning  angular momentum of the electrons along the kick [hbar], Record::angular_momentum
std::vector<double> rotatory_strength(std::span<const double> times, std::span<const double> turning, double kick,
                                      std::span<const double> energies, const SpectrumOptions& options = {});

/// epsilon(omega) along the axis of the given current. @param kick  as for polarisability(): A after t = 0
/// @param energies  positive: a metal has a pole at zero
std::vector<std::complex<double>> dielectric(std::span<const double> times, std::span<const double> current,
                                             double kick, std::span<const double> energies,
                                             const SpectrumOptions& options = {});

/// The constant part of a current: its mean weighted by the polynomial window, for any window of the spectrum. With
/// this weight the contribution of an oscillation falls with the third power of its number of periods. In a plain mean
/// it would fall with the first, and epsilon(0) multiplies the remainder by T^2.
double drift(std::span<const double> times, std::span<const double> current);

/// epsilon(0) that follows from the absorption Im epsilon at positive energies by the Kramers-Kronig relation, without
/// the pole of a drift at zero:  1 + 2 / pi integral of Im epsilon / omega = 1 - 4 pi / kappa integral of t (J - mean)
/// w(t) dt.
/// The window w = cos(pi t / 2 T)^4 ends so smoothly that lines leave an error of order (omega T)^-2; with the
/// polynomial window it would be 6 / (omega T). @param kick  as for dielectric()
double static_dielectric(std::span<const double> times, std::span<const double> current, double kick);

struct Peak {
  double energy = 0;  ///< [hartree], position of the parabola through the three highest points
  double height = 0;
};

/// Maxima of at least `fraction` of the highest one, in order of energy.
std::vector<Peak> peaks(std::span<const double> energies, std::span<const double> values, double fraction = 0.01);

}  // namespace halocline::tddft
