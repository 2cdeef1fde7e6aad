plugins {
    id("java-library")  //? import java-library
}
dependencies {
    implementation(project(":core"))  //? import :core
    testImplementation("org.junit.jupiter:junit-jupiter:5.10.0")  //? import org.junit.jupiter:junit-jupiter:5.10.0
}
tasks.register("report") {  //? function report task
}
