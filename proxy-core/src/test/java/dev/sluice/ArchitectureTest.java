package dev.sluice;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ArchitectureTest {
  /** A package imports itself and what stands before it. An order has no cycles. */
  private static final List<String> PACKAGES =
      List.of(
          "error",
          "http",
          "sse",
          "message",
          "access",
          "slots",
          "cluster",
          "timer",
          "upstream",
          "exchange",
          "telemetry",
          "pipeline");

  /** Words that say nothing, or that the project has better words for. */
  private static final String BANNED_WORDS =
      ".*(Origin|Server|Target|Session|Manager|Util|Helper|Common|Impl)([A-Z0-9s].*)?";

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.sluice");

  @Test
  void theCoreIsThePackagesOfTheListAndNoOther() {
    assertThat(CORE.stream().map(JavaClass::getPackageName).distinct())
        .containsExactlyInAnyOrderElementsOf(
            PACKAGES.stream().map(ArchitectureTest::packageName).toList());
  }

  @ParameterizedTest
  @MethodSource("packages")
  void aPackageImportsOnlyPackagesThatStandBeforeIt(String name) {
    String[] later =
        PACKAGES.stream()
            .skip(PACKAGES.indexOf(name) + 1L)
            .map(ArchitectureTest::packageName)
            .toArray(String[]::new);

    noClasses()
        .that()
        .resideInAPackage(packageName(name))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(later)
        .check(CORE);
  }

  static Stream<String> packages() {
    return PACKAGES.stream().limit(PACKAGES.size() - 1L);
  }

  @Test
  void everyPackageSaysItsPurposeAndThatNullIsTheException() {
    for (String name : PACKAGES) {
      assertThat(CORE.getPackage(packageName(name)).isAnnotatedWith(NullMarked.class))
          .as(name)
          .isTrue();
    }
  }

  @Test
  void rulesKnowNoChannels() {
    noClasses()
        .that()
        .resideInAnyPackage(
            Stream.of("error", "http", "sse", "message", "access", "slots", "cluster")
                .map(ArchitectureTest::packageName)
                .toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.netty.channel..")
        .check(CORE);
  }

  @Test
  void theCoreTouchesNoFiles() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAPackage("java.nio.file..")
                .or(JavaClass.Predicates.assignableTo(java.io.File.class))
                .or(JavaClass.Predicates.assignableTo(java.io.FileInputStream.class))
                .or(JavaClass.Predicates.assignableTo(java.io.FileOutputStream.class))
                .or(JavaClass.Predicates.assignableTo(java.io.FileReader.class))
                .or(JavaClass.Predicates.assignableTo(java.io.FileWriter.class))
                .or(JavaClass.Predicates.assignableTo(java.io.RandomAccessFile.class)))
        .check(CORE);
  }

  @Test
  void theCoreHasNoMain() {
    noMethods().should().haveName("main").check(CORE);
  }

  @Test
  void theCoreTakesNoLocks() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("java.util.concurrent.locks..")
        .check(CORE);
    methods().should().notHaveModifier(JavaModifier.SYNCHRONIZED).check(CORE);
  }

  @Test
  void namesUseNoBannedWord() {
    assertThat("HttpServerImpl").matches(BANNED_WORDS);
    assertThat("KeyUtils").matches(BANNED_WORDS);
    assertThat("Observer").doesNotMatch(BANNED_WORDS);

    noClasses()
        .that()
        .doNotHaveSimpleName("OriginForm") // RFC 9112 section 3.2.1 has no other word for it
        .should()
        .haveNameMatching(BANNED_WORDS)
        .check(CORE);
  }

  private static String packageName(String name) {
    return "dev.sluice." + name;
  }
}
